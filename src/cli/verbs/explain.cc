#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/command.h"
#include "cli/exit_code.h"
#include "cli/explain/code.h"
#include "cli/explain/incident.h"
#include "cli/explain/subject.h"
#include "cli/output.h"
#include "cli/reading.h"
#include "cli/render/checks.h"
#include "cli/render/explanation.h"
#include "cli/render/fields.h"
#include "cli/render/incidents.h"
#include "cli/render/version_gate.h"
#include "cli/verbs/verbs.h"
#include "judge/finding.h"

namespace wardmote::cli {
namespace {

namespace json = boost::json;

constexpr const char* kPath = "/api/v1/status";
constexpr const char* kIncidents = "/api/v1/incidents";

Exit exit_of_incident(const json::value& incident) {
  return exit_of_incidents(json::object{{"incidents", json::array{incident}}});
}

/// The worst of the present findings.
Exit worst_of(const json::value& explained) {
  const Fields fields(explained);
  Exit worst = Exit::kGood;
  for (const json::value& finding : fields.list("findings")) {
    worst = worse(worst, exit_of_severity(Fields(finding).raw("severity")));
  }
  for (const json::value& member : fields.list("members")) {
    worst = worse(worst, exit_of_verdict(Fields(member).raw("outcome")));
  }
  for (const json::value& cluster : fields.list("clusters")) {
    worst = worse(worst, exit_of_verdict(Fields(cluster).raw("verdict")));
  }
  for (const json::value& incident : fields.list("incidents"))
    worst = worse(worst, exit_of_incident(incident));
  for (const json::value& check : fields.list("checks")) worst = worse(worst, exit_of_check(check));
  return worst;
}

/// The present findings about it.
std::vector<std::string> names_of_findings(const json::value& explained) {
  std::vector<std::string> names;
  for (const json::value& finding : Fields(explained).list("findings"))
    names.push_back(Fields(finding).text("code"));
  return names;
}

std::vector<std::string> names_of_codes(const json::value& explained) {
  std::vector<std::string> names;
  for (const json::value& entry : Fields(explained).list("explained"))
    names.push_back(Fields(entry).text("code"));
  return names;
}

/// Who is in the way at present.
std::vector<std::string> names_of_blockers(const json::value& gate) {
  return Fields(gate).object("leader").texts("blocked_by");
}

Exit explain_gate(const Call& call) {
  return read(call, {.path = "/api/v1/version-gates/" + call.value("NAME"),
                     .draw = draw_version_gate,
                     .judge = exit_of_version_gate,
                     .shape = {"nodes", names_of_blockers}});
}

}  // namespace

Exit run_explain(const Call& call) {
  const std::string subject = call.value("SUBJECT");
  if (call.has("NAME") && subject != "gate") {
    return complain(call, Exit::kUsage,
                    "only a gate has a NAME: write 'wardmote explain gate NAME'");
  }
  if (call.has("NAME")) return explain_gate(call);
  if (const std::optional<judge::Code> code = judge::parse_code(subject)) {
    const judge::CodeInfo* info = &judge::info(*code);
    return read(call, {.path = kPath,
                       .also = {{kIncidents, "more"}},
                       .select = [info](const json::value& status) -> Result<json::value> {
                         return explain_code(*info, status);
                       },
                       .draw = draw_code,
                       .judge = worst_of,
                       .shape = {"findings", names_of_findings},
                       .without_agent = catalogue_entry(*info)});
  }
  if (const auto incident = incident_number(subject)) {
    return read(call, {.path = "/api/v1/incidents/" + std::to_string(*incident),
                       .select = [](const json::value& shown) -> Result<json::value> {
                         return explain_incident(shown);
                       },
                       .draw = draw_explained_incident,
                       .judge = exit_of_incident,
                       .shape = {"explained", names_of_codes}});
  }
  return read(
      call,
      {.path = kPath,
       .also = {{kIncidents, "more"}},
       .select = [subject](const json::value& status) { return explain_subject(subject, status); },
       .draw = draw_subject,
       .judge = worst_of,
       .shape = {"findings", names_of_findings}});
}

}  // namespace wardmote::cli
