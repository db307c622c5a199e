#include "serve/metrics/control_samples.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "base/time.h"
#include "judge/finding.h"
#include "judge/incident/incident.h"
#include "judge/notify/muting.h"
#include "serve/incidents.h"
#include "serve/metrics/exposition.h"
#include "serve/metrics/table.h"
#include "serve/notify_control.h"

namespace wardmote::serve {
namespace {

using judge::Severity;
using judge::incident::Incident;
using judge::incident::Phase;

void add_incidents(Exposition& out, const IncidentControl& control) {
  // All rows, so that a missing sample never stands for 0.
  std::map<std::pair<Severity, bool>, int> open;
  for (const Severity severity : {Severity::kInfo, Severity::kWarning, Severity::kCritical}) {
    for (const bool known : {false, true}) open[{severity, known}] = 0;
  }
  for (const auto& [id, incident] : control.book().incidents()) {
    if (incident.phase == Phase::kOpen) {
      ++open[{incident.severity, incident.acknowledged.has_value()}];
    }
  }
  for (const auto& [kind, count] : open) {
    const std::string_view labels[] = {to_string(kind.first), kind.second ? "true" : "false"};
    out.add(metric("wardmote_incidents_open"), labels, count);
  }
  out.add(metric("wardmote_acts_frozen"), {}, control.book().acts_frozen() ? 1 : 0);
}

void add_receiver(Exposition& out, const std::string& name, const ReceiverState& state) {
  const std::pair<std::string_view, std::uint64_t> results[] = {{"delivered", state.delivered},
                                                                {"refused", state.refused},
                                                                {"undelivered", state.dead},
                                                                {"repeated", state.repeated}};
  for (const auto& [result, count] : results) {
    const std::string_view labels[] = {name, state.kind, result};
    out.add(metric("wardmote_notices_total"), labels, static_cast<double>(count));
  }
  const std::string_view labels[] = {name, state.kind};
  if (state.last) out.add(metric("wardmote_receiver_up"), labels, state.last->good ? 1 : 0);
}

}  // namespace

void add_desk_metrics(Exposition& out, const IncidentControl& incidents,
                      const NotifyControl& notify, WallTime now) {
  add_incidents(out, incidents);
  std::map<std::string, int> waiting;
  for (const auto& [name, state] : notify.receivers()) {
    add_receiver(out, name, state);
    waiting[name] = 0;
  }
  for (const auto& [id, group] : notify.router().groups()) {
    if (group.pending) ++waiting[group.receiver];
  }
  for (const auto& [name, count] : waiting) {
    const std::string_view labels[] = {name};
    out.add(metric("wardmote_notices_waiting"), labels, count);
  }
  out.add(metric("wardmote_notice_groups"), {},
          static_cast<double>(notify.router().groups().size()));
  const auto lasts = [&](const judge::notify::Silence& silence) {
    return silence.from <= now && now < silence.until;
  };
  const auto active = std::ranges::count_if(notify.muting().silences(), lasts) +
                      std::ranges::count_if(notify.muting().configured(), lasts);
  out.add(metric("wardmote_silences"), {}, static_cast<double>(active));
}

}  // namespace wardmote::serve
