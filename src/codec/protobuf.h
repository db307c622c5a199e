#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"

namespace wardmote::codec {

struct ProtoField;

/// Encodes one message of Protocol Buffers (protobuf.dev, Encoding). As proto3 does, it leaves out
/// a number that is 0 and bytes that are empty.
class ProtoWriter {
 public:
  /// int64, uint64, bool, enum.
  void number(std::uint32_t field, std::int64_t value);
  void bytes(std::uint32_t field, std::string_view value);
  /// A message, or a member of a oneof: these are written also when they are empty.
  void message(std::uint32_t field, std::string_view message);
  /// A number that is a member of a oneof.
  void chosen_number(std::uint32_t field, std::int64_t value);
  /// A field as it was read, also when its meaning is not known.
  void copy(const ProtoField& field);

  std::string take() { return std::exchange(bytes_, {}); }

 private:
  void varint(std::uint64_t value);

  std::string bytes_;
};

/// One field of a message.
struct ProtoField {
  enum class Kind : std::uint8_t { kNumber, kBytes, kFixed };
  std::uint32_t number = 0;
  Kind kind = Kind::kNumber;
  std::uint64_t value = 0;   ///< kNumber
  std::string_view bytes{};  ///< kBytes, kFixed; within the message

  [[nodiscard]] std::int64_t integer() const noexcept { return static_cast<std::int64_t>(value); }
};

/// Reads the fields of one message in the order in which they stand there. The text outlives it.
class ProtoReader {
 public:
  explicit ProtoReader(std::string_view message) noexcept : rest_(message) {}

  /// Nothing at the end. kProtocol: the message is cut off or malformed.
  Result<std::optional<ProtoField>> next();

 private:
  std::string_view rest_;
};

/// Calls `take` (which returns Result<void>) with each field. kProtocol as above; else the first
/// error of `take`.
template <class Take>
Result<void> for_each_field(std::string_view message, Take take) {
  ProtoReader reader(message);
  for (;;) {
    const Result<std::optional<ProtoField>> field = reader.next();
    if (!field) return std::unexpected(field.error());
    if (!*field) return {};
    const Result<void> taken = take(**field);
    if (!taken) return taken;
  }
}

}  // namespace wardmote::codec
