#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace wardmote::judge::version_gate {

/// A release of a product, compared by major, then minor, then patch (Metropolis,
/// version.spec.Version.Release). What names a build takes no part: builds of one release are the
/// same to a gate. A release that nobody set is 0.0.0 (version/spec/spec.proto).
struct Release {
  std::int64_t major = 0;
  std::int64_t minor = 0;
  std::int64_t patch = 0;
  friend constexpr auto operator<=>(const Release&, const Release&) = default;
};

/// The last release before this one, for a pre-release of it, which three numbers cannot say: of
/// 1.4.2 it is 1.4.1, and of 1.4.0 one that comes after every 1.3.x.
Release before(const Release& release) noexcept;

/// `1.2.3`; `below 1.4.0` for a release that is the last one before it.
std::string to_string(const Release& release);

/// `1.2.3` or `v1.2.3`; also a whole version of which the release is returned,
/// `1.2.3-dev4.g0123abcd.dirty` as Metropolis names its builds, or `1.2.3+build`. kInvalid:
/// anything else. A pre-release, `1.2.3-rc.1`, comes before 1.2.3, which three numbers cannot say.
Result<Release> parse_release(std::string_view text);

}  // namespace wardmote::judge::version_gate
