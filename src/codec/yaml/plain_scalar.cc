#include "codec/yaml/plain_scalar.h"

#include <algorithm>
#include <array>
#include <boost/json/value.hpp>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <expected>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/format.h"
#include "base/text.h"

namespace wardmote::codec {

namespace json = boost::json;

namespace {

constexpr auto kNulls = std::to_array<std::string_view>({"", "~", "null", "Null", "NULL"});
constexpr auto kTrue = std::to_array<std::string_view>({"true", "True", "TRUE"});
constexpr auto kFalse = std::to_array<std::string_view>({"false", "False", "FALSE"});
/// Truth values of YAML 1.1 and words of YAML 1.2.
constexpr auto kAmbiguous =
    std::to_array<std::string_view>({"y", "Y", "yes", "Yes", "YES", "n", "N", "no", "No", "NO",
                                     "on", "On", "ON", "off", "Off", "OFF"});
constexpr std::string_view kNumberToSome =
    "this is a number to some readers and text to others; quote it";
constexpr std::string_view kTooLarge = "this number is too large";
constexpr std::string_view kTooSmall = "this number is too near to 0; write 0, or quote it";

std::unexpected<std::string> refuse(std::string_view why) {
  return std::unexpected(std::string(why));
}

template <class Range>
bool is_one_of(std::string_view text, const Range& words) {
  return std::ranges::find(words, text) != words.end();
}

bool is_digits(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

void drop_sign(std::string_view& text) {
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
}

std::size_t take_digits(std::string_view& text) {
  const std::size_t count = std::min(text.find_first_not_of("0123456789"), text.size());
  text.remove_prefix(count);
  return count;
}

/// `1.5`, `-.5e3`, `6E+2`: the core schema of YAML 1.2.
bool looks_like_float(std::string_view text) {
  drop_sign(text);
  std::size_t digits = take_digits(text);
  if (consume_prefix(text, ".")) digits += take_digits(text);
  if (digits == 0) return false;
  if (text.empty()) return true;
  if (text.front() != 'e' && text.front() != 'E') return false;
  text.remove_prefix(1);
  drop_sign(text);
  return is_digits(text);
}

bool looks_like_integer(std::string_view text) {
  drop_sign(text);
  if (consume_prefix(text, "0x") || consume_prefix(text, "0X") || consume_prefix(text, "0o")) {
    return !text.empty() && std::ranges::all_of(text, [](char c) {
      return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
    });
  }
  return is_digits(text);
}

/// `1:30`, `12:30:45.5`: yaml.org/type/int and float.
bool is_sexagesimal(std::string_view text) {
  if (!text.contains(':') || take_digits(text) == 0) return false;
  while (consume_prefix(text, ":")) {
    const std::string_view part = text;
    const std::size_t digits = take_digits(text);
    if (digits == 0 || digits > 2 || (digits == 2 && part.front() > '5')) return false;
  }
  return text.empty() || (consume_prefix(text, ".") && (take_digits(text), text.empty()));
}

/// `0b11`, `0B11`, `0O17`, `0b-1`: go-yaml asks Go's strconv.ParseInt, which knows more than YAML.
bool has_prefix_of_go(std::string_view text) {
  const auto rest_is = [&text](std::string_view digits) {
    return !text.empty() && text.find_first_not_of(digits) == std::string_view::npos;
  };
  if (consume_prefix(text, "0b") || consume_prefix(text, "0B")) {
    drop_sign(text);
    return rest_is("01");
  }
  return consume_prefix(text, "0O") && rest_is("01234567");
}

/// `1_000`, `0b11`, `1:30`: numbers of YAML 1.1 or of go-yaml, and text of YAML 1.2.
bool is_number_to_some(std::string_view text) {
  if (!std::string_view("+-.0123456789").contains(text.front())) return false;
  // Readers of YAML 1.1 leave out each underscore.
  std::string bare;
  std::ranges::copy_if(text, std::back_inserter(bare), [](char c) { return c != '_'; });
  if (bare.size() != text.size() && (looks_like_integer(bare) || looks_like_float(bare)))
    return true;
  std::string_view body = bare;
  drop_sign(body);
  return has_prefix_of_go(body) || is_sexagesimal(body);
}

std::optional<json::value> integer_of(std::string_view text, int base, char sign) {
  const auto magnitude = parse_number<std::uint64_t>(text, base);
  if (!magnitude) return std::nullopt;
  constexpr std::uint64_t kMost = std::uint64_t{1} << 63;
  if (sign != '-' && *magnitude < kMost) return json::value(static_cast<std::int64_t>(*magnitude));
  if (sign == '\0') return json::value(*magnitude);
  // Go's ParseUint takes no sign: `+9223372036854775808` is a rounded float to kubectl.
  if (sign == '+' || *magnitude > kMost) return std::nullopt;
  return json::value(static_cast<std::int64_t>(0 - *magnitude));
}

std::expected<json::value, std::string> integer_value(std::string_view text) {
  const bool has_sign = text.front() == '-' || text.front() == '+';
  const char sign = has_sign ? text.front() : '\0';
  drop_sign(text);
  std::optional<json::value> integer;
  if (text.starts_with("0x") || text.starts_with("0X")) {
    integer = integer_of(text.substr(2), 16, sign);
  } else if (text.starts_with("0o")) {
    if (text.find_first_of("89abcdefABCDEF", 2) != std::string_view::npos)
      return refuse(kNumberToSome);
    integer = integer_of(text.substr(2), 8, sign);
  } else if (text.size() > 1 && text.front() == '0') {
    // File modes: `0644`. YAML 1.2 reads them as decimal, Kubernetes as octal.
    integer = integer_of(text, 8, sign);
    if (!integer) return refuse(kNumberToSome);
  } else {
    integer = integer_of(text, 10, sign);
  }
  if (!integer) return refuse(kTooLarge);
  return *std::move(integer);
}

std::expected<json::value, std::string> float_value(std::string_view text) {
  if (text.front() == '+') text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool out_of_range = error == std::errc::result_out_of_range;
  // strtod says on which side.
  if (out_of_range && std::abs(std::strtod(std::string(text).c_str(), nullptr)) < 1)
    return refuse(kTooSmall);
  if (error != std::errc{} || !std::isfinite(value)) return refuse(kTooLarge);
  // Go writes `1.0` and `1e3` as 1 and 1000, and the server has integers then; and the shortest
  // digits that mean the same float, filled up with zeros, which is another integer up there.
  constexpr double kExact = 0x1p53;
  constexpr double kIntegers = 0x1p63;
  if (std::trunc(value) != value || std::abs(value) >= kIntegers) return json::value(value);
  if (std::abs(value) >= kExact) return refuse(kTooLarge);
  return json::value(static_cast<std::int64_t>(value));
}

bool is_infinite_or_none(std::string_view text) {
  constexpr auto kNone = std::to_array<std::string_view>({".nan", ".NaN", ".NAN"});
  constexpr auto kInfinite = std::to_array<std::string_view>({".inf", ".Inf", ".INF"});
  if (is_one_of(text, kNone)) return true;
  drop_sign(text);
  return is_one_of(text, kInfinite);
}

/// sigs.k8s.io/yaml writes a key with the digits that a float has: Go's FormatFloat(f, 'g', -1,
/// 32), which is without an exponent in this range.
bool is_written_alike(double value, std::string_view text) {
  constexpr double kLeast = 1e-4;
  constexpr double kMost = 1e6;
  if (std::abs(value) < kLeast || std::abs(value) >= kMost) return false;
  std::array<char, 64> digits{};
  const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(),
                                          static_cast<float>(value), std::chars_format::fixed);
  return error == std::errc{} && std::string_view(digits.data(), end) == text;
}

}  // namespace

std::expected<json::value, std::string> plain_value(std::string_view text) {
  if (is_one_of(text, kNulls)) return nullptr;
  if (is_one_of(text, kTrue)) return true;
  if (is_one_of(text, kFalse)) return false;
  if (is_one_of(text, kAmbiguous))
    return refuse(
        fmt::format("'{}' is a truth value to some readers and text to others; write "
                    "true or false, or quote it",
                    text));
  if (looks_like_integer(text)) return integer_value(text);
  if (is_number_to_some(text)) return refuse(kNumberToSome);
  if (is_infinite_or_none(text))
    return refuse(fmt::format("'{}' is no number that JSON can say; quote it", text));
  if (looks_like_float(text)) return float_value(text);
  return json::value(json::string(text));
}

std::optional<std::string> fault_of_plain_key(std::string_view text) {
  const auto value = plain_value(text);
  if (!value) return value.error();
  if (value->is_null()) return "a key must be text";
  bool same = value->is_string();
  if (const bool* const truth = value->if_bool()) {
    same = text == (*truth ? "true" : "false");
  } else if (const std::int64_t* const number = value->if_int64()) {
    same = text == std::to_string(*number);
  } else if (const double* const fraction = value->if_double()) {
    same = is_written_alike(*fraction, text);
  }
  if (same) return std::nullopt;
  return "kubectl would write this key in another way; quote it";
}

}  // namespace wardmote::codec
