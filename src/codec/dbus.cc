#include "codec/dbus.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "base/text.h"
#include "codec/bytes.h"
#include "codec/dbus_walker.h"

namespace wardmote::codec {
namespace {

constexpr std::size_t kFixedHeader = 16;  ///< with the length of the header's fields
constexpr std::size_t kLongestLine = 4096;
constexpr std::size_t kRead = 16 << 10;
constexpr std::size_t kMostProperties = 4096;

enum Field : std::uint8_t {
  kPath = 1,
  kInterface = 2,
  kMember = 3,
  kErrorName = 4,
  kReplySerial = 5,
  kDestination = 6,
  kSignature = 8,
};

void pad(std::string& bytes, std::size_t to) {
  bytes.append((to - bytes.size() % to) % to, '\0');
}

void put_number(std::string& bytes, std::uint32_t value) {
  pad(bytes, sizeof value);
  for (int shift = 0; shift < 32; shift += 8) bytes += static_cast<char>(value >> shift);
}

void put_text(std::string& bytes, std::string_view text) {
  put_number(bytes, static_cast<std::uint32_t>(text.size()));
  bytes.append(text).push_back('\0');
}

void put_signature(std::string& bytes, std::string_view signature) {
  bytes.push_back(static_cast<char>(signature.size()));
  bytes.append(signature).push_back('\0');
}

void put_field(std::string& bytes, Field field, std::string_view type, std::string_view text) {
  if (text.empty()) return;
  pad(bytes, 8);
  bytes.push_back(static_cast<char>(field));
  put_signature(bytes, type);
  if (type == "g") {
    put_signature(bytes, text);
  } else {
    put_text(bytes, text);
  }
}

std::size_t padded(std::size_t size) noexcept {
  return (size + 7) / 8 * 8;
}

/// A header field whose type does not fit its code makes the walker bad.
void read_field(DbusWalker& walker, DbusMessage& message) {
  walker.align(8);
  const std::uint8_t field = walker.byte();
  std::string_view type = walker.signature();
  const auto text_as = [&](std::string_view wanted, std::string& into) {
    if (type != wanted) return walker.fail();
    into = type == "g" ? walker.signature() : walker.text();
  };
  switch (field) {
    case kPath: return text_as("o", message.path);
    case kInterface: return text_as("s", message.interface);
    case kMember: return text_as("s", message.member);
    case kErrorName: return text_as("s", message.error);
    case kDestination: return text_as("s", message.destination);
    case kSignature: return text_as("g", message.signature);
    case kReplySerial:
      if (type != "u") return walker.fail();
      message.reply_to = walker.number<std::uint32_t>();
      return;
    default: walker.skip(type);
  }
}

Result<DbusMessage> read_message(std::string_view bytes, std::size_t body_bytes) {
  DbusMessage message;
  DbusWalker walker(bytes.substr(0, bytes.size() - body_bytes));
  walker.align(1);
  static_cast<void>(walker.byte());  // little endian, as was checked above
  const std::uint8_t kind = walker.byte();
  static_cast<void>(walker.number<std::uint16_t>());  // flags, version
  static_cast<void>(walker.number<std::uint32_t>());  // of the body
  message.serial = walker.number<std::uint32_t>();
  const std::size_t end = walker.array(8);
  while (walker.good() && walker.at() < end) read_field(walker, message);
  if (!walker.good() || walker.at() != end)
    return fail(Errc::kProtocol, "a D-Bus message with a broken header");
  if (kind < 1 || kind > 4 || message.serial == 0)
    return fail(Errc::kProtocol, "a D-Bus message of kind {}, serial {}", kind, message.serial);
  message.kind = static_cast<DbusMessage::Kind>(kind);
  message.body = bytes.substr(bytes.size() - body_bytes);
  return message;
}

DbusValue read_value(DbusWalker& walker) {
  std::string_view type = walker.signature();
  if (type == "b") return walker.number<std::uint32_t>() != 0;
  if (type == "y") return std::uint64_t{walker.byte()};
  if (type == "n") return std::int64_t{static_cast<std::int16_t>(walker.number<std::uint16_t>())};
  if (type == "q") return std::uint64_t{walker.number<std::uint16_t>()};
  if (type == "i") return std::int64_t{static_cast<std::int32_t>(walker.number<std::uint32_t>())};
  if (type == "u") return std::uint64_t{walker.number<std::uint32_t>()};
  if (type == "x") return static_cast<std::int64_t>(walker.number<std::uint64_t>());
  if (type == "t") return walker.number<std::uint64_t>();
  if (type == "s" || type == "o") return std::string(walker.text());
  walker.skip(type);
  if (!type.empty()) walker.fail();
  return {};
}

}  // namespace

std::string encode(const DbusCall& call) {
  std::string body;
  for (const std::string& argument : call.arguments) put_text(body, argument);
  std::string bytes{'l', static_cast<char>(DbusMessage::Kind::kCall), '\0', '\1'};
  put_number(bytes, static_cast<std::uint32_t>(body.size()));
  put_number(bytes, call.serial);
  put_number(bytes, 0);  // the length of the fields, filled in below
  put_field(bytes, kPath, "o", call.path);
  put_field(bytes, kDestination, "s", call.destination);
  put_field(bytes, kInterface, "s", call.interface);
  put_field(bytes, kMember, "s", call.member);
  put_field(bytes, kSignature, "g", std::string(call.arguments.size(), 's'));
  std::string length;
  put_number(length, static_cast<std::uint32_t>(bytes.size() - kFixedHeader));
  std::ranges::copy(length, bytes.begin() + kFixedHeader - 4);
  pad(bytes, 8);
  return bytes + body;
}

std::span<char> DbusReader::room() {
  buffer_.resize(end_ + kRead);
  return std::span(buffer_).subspan(end_);
}

void DbusReader::drop(std::size_t bytes) {
  buffer_.erase(buffer_.begin(), buffer_.begin() + static_cast<std::ptrdiff_t>(bytes));
  end_ -= bytes;
}

Result<std::optional<std::string>> DbusReader::next_line() {
  const std::string_view held(buffer_.data(), end_);
  const std::size_t end = held.find("\r\n");
  if (end == std::string_view::npos) {
    if (end_ > kLongestLine) return fail(Errc::kLimit, "a line over {} bytes", kLongestLine);
    return std::nullopt;
  }
  std::string line(held.substr(0, end));
  drop(end + 2);
  return line;
}

Result<std::optional<DbusMessage>> DbusReader::next() {
  const std::string_view held(buffer_.data(), end_);
  if (held.size() < kFixedHeader) return std::nullopt;
  if (held[0] != 'l' || held[3] != 1) return fail(Errc::kProtocol, "no D-Bus message of version 1");
  const std::size_t body = little_endian<std::uint32_t>(held.substr(4));
  const std::size_t fields = little_endian<std::uint32_t>(held.substr(12));
  if (body > cap_ || fields > cap_ || kFixedHeader + padded(fields) + body > cap_)
    return fail(Errc::kLimit, "a message over {} bytes", cap_);
  const std::size_t whole = kFixedHeader + padded(fields) + body;
  if (held.size() < whole) return std::nullopt;
  Result<DbusMessage> message = read_message(held.substr(0, whole), body);
  if (!message) return std::unexpected(message.error());
  drop(whole);
  return *std::move(message);
}

Result<DbusProperties> parse_dbus_properties(const DbusMessage& reply) {
  if (reply.signature != "a{sv}")
    return fail(Errc::kProtocol, "properties of the type '{}'",
                escape_control(reply.signature, 64));
  DbusProperties properties;
  DbusWalker walker(reply.body);
  const std::size_t end = walker.array(8);
  while (walker.good() && walker.at() < end) {
    if (properties.size() == kMostProperties)
      return fail(Errc::kLimit, "more than {} properties", kMostProperties);
    walker.align(8);
    std::string name(walker.text());
    DbusValue value = read_value(walker);
    properties.insert_or_assign(std::move(name), std::move(value));
  }
  if (!walker.good() || walker.at() != end || end != reply.body.size())
    return fail(Errc::kProtocol, "properties that are cut or broken");
  return properties;
}

Result<std::string> parse_dbus_text(const DbusMessage& reply) {
  const bool is_text = reply.signature.starts_with('s') || reply.signature.starts_with('o');
  DbusWalker walker(reply.body);
  std::string text(is_text ? walker.text() : std::string_view());
  if (!is_text || !walker.good()) return fail(Errc::kProtocol, "no text where one is expected");
  return text;
}

}  // namespace wardmote::codec
