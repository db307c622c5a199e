#pragma once
// For records: a field that is absent or has another type reads as nothing.

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/epoch_ms.h"
#include "base/result.h"
#include "base/time.h"

namespace wardmote::store {

/// kProtocol when it is no object of JSON.
Result<boost::json::object> parse_record(std::string_view text);

inline std::optional<std::int64_t> integer_in(const boost::json::object& object,
                                              std::string_view key) {
  const boost::json::value* const value = object.if_contains(key);
  if (value == nullptr) return std::nullopt;
  if (const std::int64_t* const number = value->if_int64()) return *number;
  if (const std::uint64_t* const number = value->if_uint64()) {
    return static_cast<std::int64_t>(*number);
  }
  return std::nullopt;
}

inline std::optional<std::string> text_in(const boost::json::object& object, std::string_view key) {
  const boost::json::value* const value = object.if_contains(key);
  const boost::json::string* const text = value == nullptr ? nullptr : value->if_string();
  return text == nullptr ? std::nullopt : std::optional<std::string>(*text);
}

inline std::vector<std::string> texts_in(const boost::json::object& object, std::string_view key) {
  std::vector<std::string> texts;
  const boost::json::value* const value = object.if_contains(key);
  const boost::json::array* const list = value == nullptr ? nullptr : value->if_array();
  if (list == nullptr) return texts;
  for (const boost::json::value& one : *list) {
    if (const boost::json::string* const text = one.if_string()) texts.emplace_back(*text);
  }
  return texts;
}

inline bool flag_in(const boost::json::object& object, std::string_view key) {
  const boost::json::value* const value = object.if_contains(key);
  return value != nullptr && value->is_bool() && value->get_bool();
}

inline std::optional<WallTime> wall_in(const boost::json::object& object, std::string_view key) {
  const auto ms = integer_in(object, key);
  return ms ? moment_of_epoch_ms(*ms) : std::nullopt;
}

}  // namespace wardmote::store
