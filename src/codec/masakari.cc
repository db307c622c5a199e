#include "codec/masakari.h"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "codec/json_fields.h"

namespace wardmote::codec {

namespace json = boost::json;

namespace {

constexpr std::size_t kMostItems = 10'000;

/// It becomes a part of a path.
bool is_identifier(std::string_view text) {
  constexpr std::string_view kAllowed = "0123456789abcdefABCDEF-";
  return !text.empty() && text.size() <= 36 &&
         text.find_first_not_of(kAllowed) == std::string_view::npos;
}

}  // namespace

Result<std::vector<MasakariItem>> parse_masakari_list(std::string_view body,
                                                      std::string_view name) {
  const std::optional<json::object> answer = parse_object(body);
  const json::array* const array = answer ? array_in(&*answer, name) : nullptr;
  if (array == nullptr) return fail(Errc::kProtocol, "masakari: the answer has no {}", name);
  std::vector<MasakariItem> items;
  for (const json::value& each : *array) {
    if (items.size() == kMostItems) break;
    const json::object* const one = each.if_object();
    if (one == nullptr) continue;
    MasakariItem item{text_in(*one, "uuid").value_or(""), text_in(*one, "name").value_or(""), {}};
    if (!is_identifier(item.uuid)) continue;
    const json::value* const flag = one->if_contains("on_maintenance");
    if (flag != nullptr && flag->is_bool()) item.on_maintenance = flag->get_bool();
    items.push_back(std::move(item));
  }
  return items;
}

bool lists_masakari_notification(std::string_view body, std::string_view instance,
                                 std::span<const std::string> times) {
  const std::optional<json::object> answer = parse_object(body);
  const json::array* const all = answer ? array_in(&*answer, "notifications") : nullptr;
  if (all == nullptr) return false;
  return std::ranges::any_of(*all, [&](const json::value& each) {
    const json::object* const one = each.if_object();
    const json::object* const payload = one == nullptr ? nullptr : object_in(*one, "payload");
    if (payload == nullptr || text_in(*payload, "instance_uuid") != instance) return false;
    const std::string at = text_in(*one, "generated_time").value_or("");
    return std::ranges::any_of(times,
                               [&](const std::string& time) { return at.starts_with(time); });
  });
}

}  // namespace wardmote::codec
