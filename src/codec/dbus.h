#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"

namespace wardmote::codec {

/// A D-Bus message (D-Bus Specification, Message Format), with what a client that reads properties
/// needs. Our own code, because systemd's libraries have no static archive, and libdbus needs
/// libsystemd, which the command line cannot link.
struct DbusMessage {
  enum class Kind : std::uint8_t { kCall = 1, kReply = 2, kError = 3, kSignal = 4 };

  Kind kind = Kind::kCall;
  std::uint32_t serial = 0;
  std::uint32_t reply_to = 0;  ///< the serial of the call that this answers; 0: none
  std::string path;
  std::string interface;
  std::string member;
  std::string error;  ///< its name: `org.freedesktop.DBus.Error.AccessDenied`
  std::string destination;
  std::string signature;  ///< of `body`
  std::string body;
  friend bool operator==(const DbusMessage&, const DbusMessage&) = default;
};

/// A method call whose arguments are strings.
struct DbusCall {
  std::uint32_t serial = 1;  ///< not 0
  std::string destination;   ///< empty: without a bus
  std::string path;
  std::string interface;
  std::string member;
  std::vector<std::string> arguments;  ///< without zero bytes
};

/// In little endian, like every message of this machine.
std::string encode(const DbusCall& call);

/// What a client sends before its first message: the authentication by the user id that the kernel
/// reports (D-Bus Specification, Authentication Protocol, EXTERNAL), and that messages follow.
inline constexpr std::string_view kDbusAuthentication{"\0AUTH EXTERNAL\r\nDATA\r\nBEGIN\r\n", 29};

/// Cuts the bytes from a bus into lines of the authentication, and then into messages. Use: read
/// bytes into room(), call received(), then call next_line() or next().
class DbusReader {
 public:
  explicit DbusReader(std::size_t message_bytes = 256 << 10) noexcept : cap_(message_bytes) {}

  /// The buffer for the next bytes; never empty.
  std::span<char> room();
  void received(std::size_t bytes) noexcept { end_ += bytes; }
  /// The next line without its end, or nothing until more bytes come. kLimit.
  Result<std::optional<std::string>> next_line();
  /// The next whole message, or nothing until more bytes come. kProtocol, kLimit.
  Result<std::optional<DbusMessage>> next();
  [[nodiscard]] std::size_t held() const noexcept { return end_; }

 private:
  void drop(std::size_t bytes);

  std::size_t cap_;
  std::vector<char> buffer_;
  std::size_t end_ = 0;
};

/// The value of a property; nothing for those that are containers or floating-point numbers.
using DbusValue = std::variant<std::monostate, bool, std::int64_t, std::uint64_t, std::string>;
using DbusProperties = std::map<std::string, DbusValue, std::less<>>;

/// The body `a{sv}` of org.freedesktop.DBus.Properties.GetAll. kProtocol.
Result<DbusProperties> parse_dbus_properties(const DbusMessage& reply);

/// The first argument of a reply or an error, which is a string or an object path. kProtocol.
Result<std::string> parse_dbus_text(const DbusMessage& reply);

}  // namespace wardmote::codec
