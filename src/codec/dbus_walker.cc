#include "codec/dbus_walker.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace wardmote::codec {
namespace {

/// 32 nested arrays and 32 nested structs.
constexpr int kDeepest = 64;
constexpr std::uint32_t kLongestArray = 1U << 26;

std::size_t alignment_of(char type) noexcept {
  switch (type) {
    case 'n':
    case 'q': return 2;
    case 'b':
    case 'i':
    case 'u':
    case 'h':
    case 's':
    case 'o':
    case 'a': return 4;
    case 'x':
    case 't':
    case 'd':
    case '(':
    case '{': return 8;
    default: return 1;
  }
}

/// The length of the first complete type; 0 when there is none.
std::size_t length_of_type(std::string_view types, int depth = 0) noexcept {
  if (types.empty() || depth > kDeepest) return 0;
  const char type = types.front();
  if (type == 'a') {
    const std::size_t element = length_of_type(types.substr(1), depth + 1);
    return element == 0 ? 0 : element + 1;
  }
  if (type != '(' && type != '{') return std::string_view("ybnqiuxtdhsogv").contains(type) ? 1 : 0;
  const char close = type == '(' ? ')' : '}';
  std::size_t length = 1;
  while (length < types.size() && types[length] != close) {
    const std::size_t member = length_of_type(types.substr(length), depth + 1);
    if (member == 0) return 0;
    length += member;
  }
  return length > 1 && length < types.size() ? length + 1 : 0;
}

}  // namespace

std::string_view DbusWalker::take(std::size_t count) noexcept {
  if (!good_ || bytes_.size() - at_ < count) {
    fail();
    return {};
  }
  const std::string_view taken = bytes_.substr(at_, count);
  at_ += count;
  return taken;
}

void DbusWalker::align(std::size_t to) noexcept {
  const std::string_view padding = take((to - at_ % to) % to);
  if (!std::ranges::all_of(padding, [](char c) { return c == '\0'; })) fail();
}

std::uint8_t DbusWalker::byte() noexcept {
  const std::string_view taken = take(1);
  return good_ ? static_cast<std::uint8_t>(taken.front()) : 0;
}

std::string_view DbusWalker::text() noexcept {
  const std::string_view value = take(number<std::uint32_t>());
  if (byte() != 0 || value.contains('\0')) fail();
  return good_ ? value : std::string_view();
}

std::string_view DbusWalker::signature() noexcept {
  const std::string_view value = take(byte());
  if (byte() != 0 || value.contains('\0')) fail();
  return good_ ? value : std::string_view();
}

std::size_t DbusWalker::array(std::size_t element) noexcept {
  const auto bytes = number<std::uint32_t>();
  align(element);
  if (!good_ || bytes > kLongestArray || bytes > bytes_.size() - at_) fail();
  return good_ ? at_ + bytes : at_;
}

void DbusWalker::skip_array(std::string_view& types, int depth) noexcept {
  const std::size_t length = length_of_type(types, depth);
  if (length == 0) return fail();
  const std::size_t end = array(alignment_of(types.front()));
  while (good_ && at_ < end) {
    std::string_view element = types.substr(0, length);
    skip(element, depth + 1);
  }
  if (at_ != end) fail();
  types.remove_prefix(length);
}

void DbusWalker::skip_members(std::string_view& types, char close, int depth) noexcept {
  align(8);
  if (types.starts_with(close)) return fail();
  while (good_ && !types.empty() && types.front() != close) skip(types, depth + 1);
  if (types.empty()) return fail();
  types.remove_prefix(1);
}

void DbusWalker::skip(std::string_view& types, int depth) noexcept {
  if (!good_ || types.empty() || depth > kDeepest) return fail();
  const char type = types.front();
  types.remove_prefix(1);
  switch (type) {
    case 'y': static_cast<void>(byte()); break;
    case 'n':
    case 'q': static_cast<void>(number<std::uint16_t>()); break;
    case 'b':
    case 'i':
    case 'u':
    case 'h': static_cast<void>(number<std::uint32_t>()); break;
    case 'x':
    case 't':
    case 'd': static_cast<void>(number<std::uint64_t>()); break;
    case 's':
    case 'o': static_cast<void>(text()); break;
    case 'g': static_cast<void>(signature()); break;
    case 'a': skip_array(types, depth); break;
    case '(': skip_members(types, ')', depth); break;
    case '{': skip_members(types, '}', depth); break;
    case 'v': {
      std::string_view inner = signature();
      skip(inner, depth + 1);
      if (!inner.empty()) fail();
      break;
    }
    default: fail();
  }
}

}  // namespace wardmote::codec
