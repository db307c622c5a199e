#include "codec/yaml_text.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <string>
#include <string_view>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>

namespace wardmote::codec {
namespace {

namespace json = boost::json;

constexpr std::size_t kStep = 2;  // of indentation

/// What YAML 1.1 or 1.2 readers take for something that is no text.
bool reads_as_other(std::string_view text) {
  constexpr auto kWords = std::to_array<std::string_view>(
      {"null", "true", "false", "yes", "no", "on", "off", "y", "n", "~"});
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (std::ranges::find(kWords, lower) != kWords.end()) return true;
  // Numbers, dates and `1:30` (sixty-based in YAML 1.1) hold nothing else.
  const bool begins =
      std::isdigit(static_cast<unsigned char>(text.front())) != 0 ||
      ((text.front() == '-' || text.front() == '+' || text.front() == '.') && text.size() > 1);
  return begins &&
         text.find_first_not_of("0123456789abcdefABCDEFxXoO_+-.:TZ ") == std::string_view::npos;
}

bool is_plain(std::string_view text) {
  if (text.empty() || reads_as_other(text)) return false;
  if (text.front() == ' ' || text.back() == ' ' || text.back() == ':') return false;
  constexpr std::string_view kIndicators = "-?:,[]{}#&*!|>'\"%@`";
  if (kIndicators.find(text.front()) != std::string_view::npos) return false;
  if (text.find(": ") != std::string_view::npos || text.find(" #") != std::string_view::npos)
    return false;
  return std::ranges::all_of(text, [](unsigned char c) {
    return c >= 0x20 && c < 0x7f &&
           std::string_view("[]{},").find(static_cast<char>(c)) == std::string_view::npos;
  });
}

std::string scalar(std::string_view text) {
  return is_plain(text) ? std::string(text) : json::serialize(json::string(text));
}

bool is_block(const json::value& value) {
  return (value.is_object() && !value.get_object().empty()) ||
         (value.is_array() && !value.get_array().empty());
}

std::string in_line(const json::value& value) {
  return value.is_string() ? scalar(value.get_string()) : json::serialize(value);
}

void write(std::string& out, const json::value& value, std::size_t indent);

void write_map(std::string& out, const json::object& map, std::size_t indent, bool begun) {
  for (const auto& [key, value] : map) {
    // The first key of a map in a list stands behind the dash.
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
