#include "judge/version_gate/release.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "base/format.h"
#include "base/result.h"
#include "base/text.h"

namespace wardmote::judge::version_gate {
namespace {

constexpr std::size_t kLongest = 256;
constexpr std::int64_t kLast = std::numeric_limits<std::int64_t>::max();

bool is_digit(char c) noexcept {
  return c >= '0' && c <= '9';
}

bool is_hex(char c) noexcept {
  return is_digit(c) || (c >= 'a' && c <= 'f');
}

bool is_of_build(char c) noexcept {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' || c == '-';
}

bool is_build(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, is_of_build);
}

/// What Metropolis writes behind `-` says from which commit a release was built, and no more
/// (version/version.go, Semver()): `nostamp`, or of `dev4`, `g0123abcd` and `dirty` those that
/// apply.
bool names_a_commit(std::string_view text) {
  if (text == "nostamp") return true;
  std::size_t parts = 0;
  for (std::string_view part : split(text, '.')) {
    ++parts;
    if (part == "dirty") continue;
    const auto is_digits_of = [&part](std::string_view prefix, auto kind) {
      std::string_view rest = part;
      return consume_prefix(rest, prefix) && !rest.empty() && std::ranges::all_of(rest, kind);
    };
    if (!is_digits_of("dev", is_digit) && !is_digits_of("g", is_hex)) return false;
  }
  return parts > 0;
}

}  // namespace

Release before(const Release& release) noexcept {
  if (release.patch > 0) return {release.major, release.minor, release.patch - 1};
  if (release.minor > 0) return {release.major, release.minor - 1, kLast};
  return {release.major - 1, kLast, kLast};
}

std::string to_string(const Release& release) {
  if (release.minor == kLast) return fmt::format("below {}.0.0", release.major + 1);
  if (release.patch == kLast) return fmt::format("below {}.{}.0", release.major, release.minor + 1);
  return fmt::format("{}.{}.{}", release.major, release.minor, release.patch);
}

Result<Release> parse_release(std::string_view text) {
  const auto refuse = [&] {
    return fail(Errc::kInvalid, "'{}' is not of the form 1.2.3", escape_control(text, 64));
  };
  if (text.size() > kLongest) return refuse();
  std::string_view rest = text;
  consume_prefix(rest, "v");
  if (const std::size_t plus = rest.find('+'); plus != std::string_view::npos) {
    if (!is_build(rest.substr(plus + 1))) return refuse();
    rest = rest.substr(0, plus);
  }
  if (const std::size_t minus = rest.find('-'); minus != std::string_view::npos) {
    const std::string_view build = rest.substr(minus + 1);
    if (!is_build(build)) return refuse();
    if (!names_a_commit(build))
      return fail(Errc::kInvalid,
                  "'{}' is a pre-release, and a gate, which knows three numbers only, would count "
                  "it as the final {}",
                  escape_control(text, 64), rest.substr(0, minus));
    rest = rest.substr(0, minus);
  }
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
