#include "cli/explain/check_findings.h"

#include <boost/json/object.hpp>
#include <string>
#include <string_view>

#include "base/format.h"
#include "cli/render/family.h"
#include "cli/render/fields.h"
#include "judge/finding.h"

namespace wardmote::cli {

namespace json = boost::json;

json::array findings_of_check(const json::value& check) {
  json::array findings;
  const Fields fields(check);
  const bool optional_warns = fields.flag("optional");
  const auto add = [&](judge::Code code, std::string_view words) {
    const judge::CodeInfo& info = judge::info(code);
    const std::string why = fields.text(fields.has("detail") ? "detail" : "reason");
    findings.push_back(json::object{
        {"code", info.name},
        {"severity", to_string(optional_warns ? judge::Severity::kWarning : info.severity)},
        {"subjects", json::array{fields.raw("name")}},
        {"summary", fmt::format("{} {}: {}", fields.text("name"), words, why)},
        {"age_ms", fields.number("since_ms").value_or(0)}});
  };
  if (stands_for_a_thing(fields)) return findings;
  if (fields.raw("state") == "reported") add(judge::Code::kCheckFailed, "fails");
  if (fields.flag("blind")) add(judge::Code::kMonitorBlind, "is not seen");
  return findings;
}

}  // namespace wardmote::cli
