#include "codec/kube_names.h"

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "base/text.h"

namespace wardmote::codec {
namespace {

constexpr std::size_t kLongestName = 253;
constexpr std::size_t kLongestKind = 63;

bool is_letter_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

bool is_label_char(char c) {
  return is_letter_or_digit(c) || c == '-' || c == '.';
}

}  // namespace

bool is_api_version(std::string_view text) {
  std::string_view rest = text;
  const std::string_view first = take_until(rest, '/');
  const auto fits = [](std::string_view part) {
    return !part.empty() && part.size() <= kLongestName && part.front() != '.' &&
           std::ranges::all_of(part, is_label_char);
  };
  return fits(first) && (first.size() == text.size() || fits(rest));
}

bool is_kind(std::string_view text) {
  return !text.empty() && text.size() <= kLongestKind &&
         std::ranges::all_of(text, is_letter_or_digit);
}

bool is_object_name(std::string_view text) {
  return !text.empty() && text.size() <= kLongestName && text != "." && text != ".." &&
         text.find_first_of("/%") == std::string_view::npos &&
         std::ranges::none_of(text, [](char c) { return static_cast<unsigned char>(c) <= 0x20; });
}

bool is_data_key(std::string_view text) {
  return !text.empty() && text.size() <= kLongestName && text != "." && !text.starts_with("..") &&
         std::ranges::all_of(text, [](char c) { return is_label_char(c) || c == '_'; });
}

}  // namespace wardmote::codec
