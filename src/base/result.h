#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <utility>

#include "base/format.h"

namespace wardmote {

/// What went wrong. A code exists only where some caller acts differently on it; everything else
/// belongs into Error::context.
enum class Errc : std::uint8_t {
  kTimeout,      ///< the deadline passed
  kRefused,      ///< nobody listens (ECONNREFUSED)
  kMissing,      ///< no such file, socket, database, key
  kUnreachable,  ///< no route, host or network down
  kDenied,       ///< permission or authentication: the other side does not accept us
  kUntrusted,    ///< we do not accept the other side: it cannot prove who it is (TLS)
  kExpired,      ///< the same, but only because its certificate has expired or is not yet valid
  kClosed,       ///< the peer ended the conversation
  kProtocol,     ///< the peer said something that is not its protocol
  kLimit,        ///< one of our limits was reached (size, depth, count)
  kInvalid,      ///< the caller or the operator asked for something impossible
  kExhausted,    ///< we ran out of descriptors, memory or disk
  kRejected,     ///< the peer understood and answered with an error
  kInternal,     ///< anything else; the context says what
  kNoResolver,   ///< a name was not looked up: the system's resolver did not answer
};

/// Lower-case words for `code`: "timed out", "refused", …
std::string_view to_string(Errc code) noexcept;

/// An error value: a small closed code, and what was being done to what. Each layer adds its
/// context once, outermost first: `ovsdb nb: connect /run/ovn/ovnnb_db.sock: refused`.
struct Error {
  Errc code = Errc::kInternal;
  std::string context;

  /// The context followed by the words of the code.
  [[nodiscard]] std::string describe() const;
  friend bool operator==(const Error&, const Error&) = default;
};

template <class T>
using Result = std::expected<T, Error>;

/// `return fail(Errc::kProtocol, "reply {}: not an object", id);`
template <class... Args>
[[nodiscard]] std::unexpected<Error> fail(Errc code, fmt::format_string<Args...> format,
                                          Args&&... args) {
  return std::unexpected(Error{code, fmt::format(format, std::forward<Args>(args)...)});
}

/// Prefixes the context of a failed result: `return with_context(sent, "unixctl {}", command);`
template <class T, class... Args>
[[nodiscard]] std::unexpected<Error> with_context(const Result<T>& failed,
                                                  fmt::format_string<Args...> format,
                                                  Args&&... args) {
  std::string context = fmt::format(format, std::forward<Args>(args)...);
  if (!failed.error().context.empty()) context += ": " + failed.error().context;
  return std::unexpected(Error{failed.error().code, std::move(context)});
}

}  // namespace wardmote
