#include "cli/render/fields.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/string.hpp>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"

namespace wardmote::cli {

namespace json = boost::json;

const json::value* Fields::find(std::string_view name) const noexcept {
  const json::value* found = object_ == nullptr ? nullptr : object_->if_contains(name);
  return found == nullptr || found->is_null() ? nullptr : found;
}

std::string_view Fields::raw(std::string_view name) const noexcept {
  const json::value* found = find(name);
  const json::string* text = found == nullptr ? nullptr : found->if_string();
  return text == nullptr ? std::string_view{} : std::string_view(text->data(), text->size());
}

std::string Fields::text(std::string_view name) const {
  return escape_control(raw(name));
}

std::optional<std::int64_t> Fields::number(std::string_view name) const noexcept {
  const json::value* found = find(name);
  return found == nullptr ? std::nullopt : number_of(*found);
}

bool Fields::flag(std::string_view name) const noexcept {
  const json::value* found = find(name);
  const bool* flag = found == nullptr ? nullptr : found->if_bool();
  return flag != nullptr && *flag;
}

Fields Fields::object(std::string_view name) const noexcept {
  const json::value* found = find(name);
  return found == nullptr ? Fields() : Fields(*found);
}

std::span<const json::value> Fields::list(std::string_view name) const noexcept {
  const json::value* found = find(name);
  const json::array* list = found == nullptr ? nullptr : found->if_array();
  if (list == nullptr) return {};
  return {list->data(), list->size()};
}

std::string Fields::pairs(std::string_view name) const {
  std::string text;
  const json::value* const found = find(name);
  if (found == nullptr || !found->is_object()) return text;
  for (const auto& [key, value] : found->get_object()) {
    if (!text.empty()) text += ',';
    text += escape_control(key) + '=' + text_of(value);
  }
  return text;
}

std::vector<std::string> Fields::texts(std::string_view name) const {
  std::vector<std::string> texts;
  for (const json::value& value : list(name)) texts.push_back(text_of(value));
  return texts;
}

std::optional<std::int64_t> number_of(const json::value& value) noexcept {
  boost::system::error_code not_a_whole_number;
  const auto number = value.to_number<std::int64_t>(not_a_whole_number);
  if (not_a_whole_number) return std::nullopt;
  return number;
}

std::string text_of(const json::value& value) {
  const json::string* text = value.if_string();
  return text == nullptr ? std::string{} : escape_control({text->data(), text->size()});
}

}  // namespace wardmote::cli
