#pragma once

#include <string>
#include <utility>

#include "base/result.h"

namespace wardmote::net {

/// The Errc that callers act on for an errno value.
Errc to_errc(int error) noexcept;

/// What `error` says beyond its Errc, as `: Is a directory`; empty where the words of the Errc are
/// enough.
std::string errno_detail(int error);

/// `return fail_errno(errno, "connect {}", path);`
template <class... Args>
[[nodiscard]] std::unexpected<Error> fail_errno(int error, fmt::format_string<Args...> format,
                                                Args&&... args) {
  return std::unexpected(Error{
      to_errc(error), fmt::format(format, std::forward<Args>(args)...) + errno_detail(error)});
}

}  // namespace wardmote::net
