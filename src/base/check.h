#pragma once

#include <source_location>
#include <string_view>

namespace wardmote {

/// Ends the process with the place and the reason on standard error. For conditions that only a bug
/// in this program can cause.
[[noreturn]] void die(std::string_view reason,
                      std::source_location where = std::source_location::current());

/// Asserts one of our own invariants; on in release builds.
inline void check(bool invariant, std::string_view reason,
                  std::source_location where = std::source_location::current()) {
  if (!invariant) [[unlikely]]
    die(reason, where);
}

}  // namespace wardmote
