#include "serve/guest/guest_view.h"

#include <boost/json/object.hpp>
#include <chrono>
#include <string>
#include <string_view>

#include "base/format.h"
#include "base/time.h"
#include "judge/check_machine.h"
#include "judge/finding.h"
#include "judge/guest/facts.h"
#include "judge/guest/inside.h"
#include "judge/guest/machine.h"
#include "serve/json.h"
#include "serve/json_values.h"
#include "serve/metrics/exposition.h"
#include "serve/thing_view.h"

namespace wardmote::serve {

namespace json = boost::json;

std::string guest_node(std::string_view name) {
  return fmt::format("guest:{}", name);
}

std::string guest_inside_node(std::string_view name) {
  return fmt::format("guest:{}/inside", name);
}

std::string GuestView::component_of(const judge::Finding& finding) const {
  const bool inside = judge::guest::is_of_inside(finding.code);
  return inside ? guest_inside_node(id.name) : owner();
}

bool GuestView::says_as(const GuestView& other) const {
  return uuid == other.uuid && instance == other.instance && flavor == other.flavor &&
         project == other.project && state == other.state && run == other.run &&
         channel == other.channel && failures == other.failures && threshold == other.threshold &&
         booting == other.booting && assessment.verdict == other.assessment.verdict &&
         assessment.findings == other.assessment.findings &&
         assessment.observed == other.assessment.observed;
}

json::object GuestView::names() const {
  return {{"guest", text(id.name, kNameCap)}, {"uuid", text(uuid)}};
}

json::object GuestView::to_json(Moment at) const {
  json::object object = names();
  object["instance"] = text_or_null(instance);
  object["flavor"] = text_or_null(flavor);
  object["project"] = text_or_null(project);
  object["at"] = utc(judged, at);
  object["state"] = word(to_string(state));
  object["verdict"] = word(to_string(assessment.verdict));
  object["run"] = word(to_string(run));
  object["channel"] = word(to_string(channel));
  object["failures"] = failures;
  object["threshold"] = threshold;
  object["booting"] = booting;
  object["since"] = utc(since, at);
  object["last_answer"] = nullptr;
  if (last_answer) object["last_answer"] = utc(*last_answer, at);
  object["ping_ms"] = nullptr;
  if (ping) object["ping_ms"] = to_ms(*ping);
  object["findings"] = findings_json(assessment.findings, at);
  object["observed"] = observed_json(assessment.observed, at);
  return object;
}

void GuestView::measure(Exposition& out, Moment) const {
  const std::string_view verdict[] = {id.name, uuid, to_string(assessment.verdict)};
  out.add(row_of(kGuestMetrics, "wardmote_guest_verdict"), verdict, 1);
  const std::string_view whose[] = {id.name, uuid};
  out.add(row_of(kGuestMetrics, "wardmote_guest_failures"), whose, failures);
  if (ping) {
    out.add(row_of(kGuestMetrics, "wardmote_guest_ping_seconds"), whose,
            std::chrono::duration<double>(*ping).count());
  }
  for (const judge::Finding& finding : assessment.findings) {
    const std::string_view labels[] = {id.name, uuid, to_string(finding.code),
                                       to_string(finding.severity)};
    out.add(row_of(kGuestMetrics, "wardmote_guest_finding"), labels, 1);
  }
}

}  // namespace wardmote::serve
