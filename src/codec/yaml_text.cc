#include "codec/yaml_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>

#include "base/format.h"
#include "base/text.h"

namespace wardmote::codec {
namespace {

namespace json = boost::json;

constexpr std::size_t kStep = 2;  // of indentation

bool is_digit(char c) noexcept {
  return c >= '0' && c <= '9';
}

bool is_letter(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/// Words that some reader takes for a truth value, for null or (in Perl) for a number.
bool is_taken(std::string_view text) {
  constexpr auto kTaken = std::to_array<std::string_view>(
      {"null", "true", "false", "yes", "no", "on", "off", "y", "n", "inf", "infinity", "nan"});
  const auto is_same = [&](std::string_view taken) {
    return std::ranges::equal(text, taken, [](char a, char b) { return (a | 0x20) == b; });
  };
  return std::ranges::any_of(kTaken, is_same);
}

/// `500ms`: the form of most values of a configuration, and not a number for any reader.
bool is_duration(std::string_view text) {
  constexpr auto kUnits = std::to_array<std::string_view>({"us", "ms", "s", "m", "h"});
  const std::size_t unit = text.find_first_not_of("0123456789");
  return unit != 0 && unit != std::string_view::npos &&
         std::ranges::find(kUnits, text.substr(unit)) != kUnits.end();
}

/// Texts that every reader of YAML 1.1 and 1.2 takes for this very text. Everything else is quoted,
/// although some of it would be safe.
bool is_plain(std::string_view text) {
  if (is_duration(text)) return true;
  if (text.empty() || is_taken(text)) return false;
  if (!is_letter(text.front()) && text.front() != '/' && text.front() != '_') return false;
  if (text.back() == ' ' || text.back() == ':' || text.contains(": ")) return false;
  return std::ranges::all_of(text, [](char c) {
    return is_letter(c) || is_digit(c) || std::string_view("-_./:@+ ").contains(c);
  });
}

/// As in JSON, which YAML reads too. JSON has no escapes beyond ASCII, but YAML 1.1 folds some line
/// ends there, and accepts neither control characters nor bytes that are not UTF-8.
std::string quoted(std::string_view text) {
  constexpr std::uint32_t kNoCharacter = 0xfffe;  // U+FFFE, and U+FFFF
  const std::string written = json::serialize(json::string(text));
  std::string result;
  for (std::string_view rest = written; !rest.empty();) {
    const CodePoint c = decode_utf8(rest);
    if (c.length == 0) {
      result += "\\ufffd";
    } else if (is_hostile(c.value) || c.value == kNoCharacter || c.value == kNoCharacter + 1) {
      result += fmt::format("\\u{:04x}", c.value);
    } else {
      result += rest.substr(0, c.length);
    }
    rest.remove_prefix(c.length == 0 ? 1 : c.length);
  }
  return result;
}

std::string scalar(std::string_view text) {
  return is_plain(text) ? std::string(text) : quoted(text);
}

bool is_block(const json::value& value) {
  return (value.is_object() && !value.get_object().empty()) ||
         (value.is_array() && !value.get_array().empty());
}

/// As kubectl prints it: the fewest digits, without an exponent where a person would write none.
/// Boost has `1E-1` for 0.1.
std::string number(double value) {
  constexpr double kLeast = 1e-6;
  constexpr double kMost = 1e21;
  const double size = std::abs(value);
  if (size != 0 && (!(size >= kLeast) || size >= kMost)) return json::serialize(json::value(value));
  std::array<char, 64> digits{};
  const auto [end, error] =
      std::to_chars(digits.data(), digits.data() + digits.size(), value, std::chars_format::fixed);
  return {digits.data(), end};
}

std::string in_line(const json::value& value) {
  if (value.is_string()) return scalar(value.get_string());
  return value.is_double() ? number(value.get_double()) : json::serialize(value);
}

void write(std::string& out, const json::value& value, std::size_t indent);

void write_map(std::string& out, const json::object& map, std::size_t indent, bool begun) {
  for (const auto& [key, value] : map) {
    // The first key of a map in a list stands after the dash.
    if (!begun) out.append(indent, ' ');
    begun = false;
    out += scalar(key) + ":";
    if (is_block(value)) {
      out += '\n';
      write(out, value, indent + kStep);
    } else {
      out += ' ' + in_line(value) + '\n';
    }
  }
}

void write_list(std::string& out, const json::array& list, std::size_t indent) {
  for (const json::value& item : list) {
    out.append(indent, ' ');
    out += "- ";
    if (const json::object* const map = item.if_object(); map != nullptr && !map->empty()) {
      write_map(out, *map, indent + kStep, true);
    } else if (is_block(item)) {
      out.back() = '\n';
      write(out, item, indent + kStep);
    } else {
      out += in_line(item) + '\n';
    }
  }
}

void write(std::string& out, const json::value& value, std::size_t indent) {
  if (const json::object* const map = value.if_object()) {
    write_map(out, *map, indent, false);
  } else {
    write_list(out, value.get_array(), indent);
  }
}

}  // namespace

std::string yaml_text(const json::value& value) {
  if (!is_block(value)) return in_line(value) + "\n";
  std::string out;
  write(out, value, 0);
  return out;
}

}  // namespace wardmote::codec
