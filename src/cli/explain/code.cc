#include "cli/explain/code.h"

#include <algorithm>
#include <boost/json/array.hpp>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "base/format.h"
#include "base/time.h"
#include "cli/explain/check_findings.h"
#include "cli/render/family.h"
#include "cli/render/fields.h"
#include "cli/render/words.h"
#include "judge/finding.h"
#include "judge/remedies.h"

namespace wardmote::cli {
namespace {

namespace json = boost::json;

/// `at once`, `after 2 election rounds`, `after 1m00s`.
std::string window_words(const judge::Window& window) {
  std::string words;
  if (window.rounds > 0) words = counted(static_cast<std::size_t>(window.rounds), "election round");
  if (window.fixed > Duration::zero()) {
    if (!words.empty()) words += " and ";
    words += format_duration(window.fixed);
  }
  return words.empty() ? "at once" : "after " + words;
}

/// What the agent can do about it under a policy; null: it only reports.
json::value act_words(judge::Code code) {
  const judge::RemedyInfo* const remedy = judge::remedy_for(code);
  if (remedy == nullptr) return nullptr;
  return json::value(fmt::format("{}, if a policy allows that (docs/plans.md)", remedy->act));
}

/// Of what each thing has in `list`.
void add_of_things(const Fields& status, std::string_view list, std::string_view code,
                   json::array& into) {
  for (const Family& family : families()) {
    for (const json::value& value : status.list(family.list)) {
      const Fields thing(value);
      for (const json::value& one : thing.list(list)) {
        if (Fields(one).raw("code") == code) into.push_back(named_in(family, thing, one));
      }
    }
  }
}

void add_of_checks(const Fields& status, std::string_view code, json::array& into) {
  for (const json::value& check : status.list("checks")) {
    for (json::value& finding : findings_of_check(check)) {
      if (Fields(finding).raw("code") == code) into.push_back(std::move(finding));
    }
  }
}

json::array incidents_of(const Fields& incidents, std::string_view code) {
  json::array found;
  for (const json::value& incident : incidents.list("incidents")) {
    const Fields fields(incident);
    const bool stands = std::ranges::any_of(fields.list("standing"), [&](const json::value& one) {
      return Fields(one).raw("code") == code;
    });
    if (fields.raw("code") == code || stands) found.push_back(incident);
  }
  return found;
}

}  // namespace

json::object catalogue_entry(const judge::CodeInfo& info) {
  json::object entry;
  entry["code"] = info.name;
  entry["severity"] = to_string(info.severity);
  entry["raised"] = window_words(info.window);
  entry["critical"] = nullptr;
  if (info.critical_after) entry["critical"] = window_words(*info.critical_after);
  entry["meaning"] = info.meaning;
  entry["evidence"] = info.evidence;
  entry["advice"] = info.advice;
  entry["agent_may"] = act_words(info.code);
  return entry;
}

json::object explain_code(const judge::CodeInfo& info, const json::value& status) {
  json::object entry = catalogue_entry(info);
  const Fields fields(status);
  json::array findings;
  json::array observed;
  add_of_things(fields, "findings", info.name, findings);
  add_of_checks(fields, info.name, findings);
  add_of_things(fields, "observed", info.name, observed);
  entry["findings"] = std::move(findings);
  entry["observed"] = std::move(observed);
  entry["incidents"] = incidents_of(fields.object("more"), info.name);
  return entry;
}

}  // namespace wardmote::cli
