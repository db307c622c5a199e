#include "judge/version_gate/release.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/format.h"
#include "base/result.h"
#include "base/text.h"

namespace wardmote::judge::version_gate {
namespace {

constexpr std::size_t kLongest = 256;

bool is_of_build(char c) noexcept {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' ||
         c == '-' || c == '+';
}

}  // namespace

std::string to_string(const Release& release) {
  return fmt::format("{}.{}.{}", release.major, release.minor, release.patch);
}

Result<Release> parse_release(std::string_view text) {
  const auto refuse = [&] {
    return fail(Errc::kInvalid, "release '{}': not of the form 1.2.3", escape_control(text, 64));
  };
  if (text.size() > kLongest) return refuse();
  std::string_view rest = text;
  consume_prefix(rest, "v");
  const std::size_t end = std::min(rest.find_first_of("-+"), rest.size());
  const std::string_view build = rest.substr(end);
  if (build.size() == 1 || !std::ranges::all_of(build, is_of_build)) return refuse();
  rest = rest.substr(0, end);
  if (std::ranges::count(rest, '.') != 2) return refuse();
  std::array<std::int64_t, 3> numbers{};
  for (std::int64_t& number : numbers) {
    const std::string_view digits = take_until(rest, '.');
    if (digits.starts_with('-')) return refuse();
    const auto parsed = parse_number<std::int64_t>(digits);
    if (!parsed) return refuse();
    number = *parsed;
  }
  return Release{numbers[0], numbers[1], numbers[2]};
}

}  // namespace wardmote::judge::version_gate
