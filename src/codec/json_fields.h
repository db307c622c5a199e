#pragma once
// What is under a key of an object that another program or a disk gave: nothing where it is absent
// or of another type, and where there is no object.

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace wardmote::codec {

inline const boost::json::value* value_in(const boost::json::object* object,
                                          std::string_view key) noexcept {
  return object == nullptr ? nullptr : object->if_contains(key);
}

inline const boost::json::object* object_in(const boost::json::object& object,
                                            std::string_view key) noexcept {
  const boost::json::value* const value = value_in(&object, key);
  return value == nullptr ? nullptr : value->if_object();
}

inline const boost::json::array* array_in(const boost::json::object* object,
                                          std::string_view key) noexcept {
  const boost::json::value* const value = value_in(object, key);
  return value == nullptr ? nullptr : value->if_array();
}

inline std::optional<std::string> text_in(const boost::json::object* object, std::string_view key) {
  const boost::json::value* const value = value_in(object, key);
  const boost::json::string* const text = value == nullptr ? nullptr : value->if_string();
  return text == nullptr ? std::nullopt : std::optional<std::string>(*text);
}

inline std::optional<std::string> text_in(const boost::json::object& object, std::string_view key) {
  return text_in(&object, key);
}

inline std::vector<std::string> texts_in(const boost::json::object& object, std::string_view key) {
  std::vector<std::string> texts;
  const boost::json::array* const list = array_in(&object, key);
  if (list == nullptr) return texts;
  for (const boost::json::value& one : *list) {
    if (const boost::json::string* const text = one.if_string()) texts.emplace_back(*text);
  }
  return texts;
}

inline std::optional<std::int64_t> integer_in(const boost::json::object& object,
                                              std::string_view key) noexcept {
  const boost::json::value* const value = value_in(&object, key);
  if (value == nullptr) return std::nullopt;
  if (const std::int64_t* const number = value->if_int64()) return *number;
  if (const std::uint64_t* const number = value->if_uint64())
    return static_cast<std::int64_t>(*number);
  return std::nullopt;
}

inline bool flag_in(const boost::json::object& object, std::string_view key) noexcept {
  const boost::json::value* const value = value_in(&object, key);
  return value != nullptr && value->is_bool() && value->get_bool();
}

/// Nothing when `text` is no object of JSON.
inline std::optional<boost::json::object> parse_object(std::string_view text) {
  boost::system::error_code broken;
  boost::json::value value = boost::json::parse(text, broken);
  if (broken || !value.is_object()) return std::nullopt;
  return std::move(value.get_object());
}

}  // namespace wardmote::codec
