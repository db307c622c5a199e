#pragma once

#include <boost/json/value.hpp>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace wardmote::cli {

/// A total view of a JSON object from outside: a field that is absent or has another type reads as
/// nothing, and texts come out escaped. Borrows the value.
class Fields {
 public:
  /// An empty object.
  Fields() = default;
  explicit Fields(const boost::json::value& value) noexcept : object_(value.if_object()) {}

  /// "" when there is none.
  [[nodiscard]] std::string text(std::string_view name) const;
  /// Unescaped, for comparing and for exit codes.
  [[nodiscard]] std::string_view raw(std::string_view name) const noexcept;
  [[nodiscard]] std::optional<std::int64_t> number(std::string_view name) const noexcept;
  [[nodiscard]] bool flag(std::string_view name) const noexcept;
  [[nodiscard]] bool has(std::string_view name) const noexcept { return find(name) != nullptr; }
  [[nodiscard]] Fields object(std::string_view name) const noexcept;
  /// The texts of an object by name, `a=1,b=2`, escaped.
  [[nodiscard]] std::string pairs(std::string_view name) const;
  /// Empty when there is none.
  [[nodiscard]] std::span<const boost::json::value> list(std::string_view name) const noexcept;
  /// The texts of a list, escaped.
  [[nodiscard]] std::vector<std::string> texts(std::string_view name) const;

 private:
  /// Null when absent or JSON's null.
  [[nodiscard]] const boost::json::value* find(std::string_view name) const noexcept;

  const boost::json::object* object_ = nullptr;
};

/// One element of a list as an escaped text; "" when it is not a string.
std::string text_of(const boost::json::value& value);

/// One element of a list as a number; nothing when it is not a whole number, or too large.
std::optional<std::int64_t> number_of(const boost::json::value& value) noexcept;

}  // namespace wardmote::cli
