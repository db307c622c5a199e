#pragma once
// How a value becomes JSON: text from outside is capped and control-escaped, an unknown value is
// null.

#include <boost/json/array.hpp>
#include <boost/json/string.hpp>
#include <boost/json/value.hpp>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "base/time.h"
#include "judge/outcome.h"
#include "serve/thing_view.h"

namespace wardmote::serve {

inline constexpr std::size_t kNameCap = 128;
inline constexpr std::size_t kTextCap = 1024;

/// Text from outside.
inline boost::json::string text(std::string_view raw, std::size_t cap = kTextCap) {
  return boost::json::string(escape_control(raw, cap));
}

/// A word from our own tables.
inline boost::json::string word(std::string_view ours) {
  return boost::json::string(ours);
}

inline boost::json::value text_or_null(std::string_view raw) {
  return raw.empty() ? boost::json::value(nullptr) : boost::json::value(text(raw));
}

template <class T>
boost::json::value number_or_null(const std::optional<T>& number) {
  return number ? boost::json::value(*number) : boost::json::value(nullptr);
}

inline boost::json::value code_or_null(const judge::Reason& reason) {
  if (reason.code == judge::ReasonCode::kNone) return nullptr;
  return word(to_string(reason.code));
}

inline boost::json::string utc(TimePoint at, Moment moment) {
  return word(format_utc(moment.wall - (moment.now - at)));
}

template <class Range, class Convert>
boost::json::array array_of(const Range& range, Convert convert) {
  boost::json::array array;
  array.reserve(range.size());
  for (const auto& item : range) array.push_back(convert(item));
  return array;
}

inline boost::json::array texts(const std::vector<std::string>& raw) {
  return array_of(raw, [](const std::string& one) { return boost::json::value(text(one)); });
}

}  // namespace wardmote::serve
