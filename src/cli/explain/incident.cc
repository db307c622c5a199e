#include "cli/explain/incident.h"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "cli/explain/code.h"
#include "cli/render/fields.h"
#include "judge/finding.h"

namespace wardmote::cli {

namespace json = boost::json;

namespace {

constexpr std::size_t kServerIdDigits = 4;

}  // namespace

std::optional<std::int64_t> incident_number(std::string_view subject) {
  const bool marked = consume_prefix(subject, "#");
  if (!marked && subject.size() == kServerIdDigits) return std::nullopt;
  const auto number = parse_number<std::int64_t>(subject);
  return number && *number > 0 ? number : std::nullopt;
}

json::value explain_incident(const json::value& incident) {
  const Fields fields(incident);
  std::vector<std::string> codes = {fields.text("code")};
  for (const json::value& symptom : fields.list("standing")) {
    codes.push_back(Fields(symptom).text("code"));
  }
  json::array explained;
  for (auto code = codes.begin(); code != codes.end(); ++code) {
    if (std::find(codes.begin(), code, *code) != code) continue;
    // A newer agent may have codes that are not in this catalogue.
    if (const auto known = judge::parse_code(*code)) {
      explained.emplace_back(catalogue_entry(judge::info(*known)));
    }
  }
  json::value shown = incident;
  if (json::object* const object = shown.if_object()) (*object)["explained"] = std::move(explained);
  return shown;
}

}  // namespace wardmote::cli
