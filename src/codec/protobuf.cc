#include "codec/protobuf.h"

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace wardmote::codec {
namespace {

enum WireType : std::uint8_t { kVarint = 0, kFixed64 = 1, kLength = 2, kFixed32 = 5 };
constexpr unsigned kTypeBits = 3;
/// 64 bits in groups of 7.
constexpr unsigned kLongestVarint = 70;

std::optional<std::uint64_t> read_varint(std::string_view& rest) {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < kLongestVarint && !rest.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(rest.front());
    rest.remove_prefix(1);
    value |= std::uint64_t{byte & 0x7fU} << shift;
    if ((byte & 0x80U) == 0) return value;
  }
  return std::nullopt;
}

std::optional<std::string_view> read_bytes(std::string_view& rest, std::uint64_t size) {
  if (size > rest.size()) return std::nullopt;
  const std::string_view bytes = rest.substr(0, size);
  rest.remove_prefix(size);
  return bytes;
}

/// Reads the value of the field, whose number is known.
bool read_value(ProtoField& field, std::uint64_t wire_type, std::string_view& rest) {
  std::optional<std::uint64_t> size;
  switch (wire_type) {
    case kVarint: {
      const auto value = read_varint(rest);
      field.value = value.value_or(0);
      return value.has_value();
    }
    case kFixed64: size = 8; break;
    case kFixed32: size = 4; break;
    case kLength: size = read_varint(rest); break;
    default: return false;
  }
  if (!size) return false;
  field.kind = wire_type == kLength ? ProtoField::Kind::kBytes : ProtoField::Kind::kFixed;
  const auto bytes = read_bytes(rest, *size);
  field.bytes = bytes.value_or(std::string_view());
  return bytes.has_value();
}

}  // namespace

void ProtoWriter::varint(std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>(0x80U | (value & 0x7fU));
  bytes_ += static_cast<char>(value);
}

void ProtoWriter::number(std::uint32_t field, std::int64_t value) {
  if (value != 0) chosen_number(field, value);
}

void ProtoWriter::chosen_number(std::uint32_t field, std::int64_t value) {
  varint((std::uint64_t{field} << kTypeBits) | kVarint);
  varint(static_cast<std::uint64_t>(value));
}

void ProtoWriter::bytes(std::uint32_t field, std::string_view value) {
  if (!value.empty()) message(field, value);
}

void ProtoWriter::message(std::uint32_t field, std::string_view message) {
  varint((std::uint64_t{field} << kTypeBits) | kLength);
  varint(message.size());
  bytes_ += message;
}

void ProtoWriter::copy(const ProtoField& field) {
  switch (field.kind) {
    case ProtoField::Kind::kNumber: chosen_number(field.number, field.integer()); return;
    case ProtoField::Kind::kBytes: message(field.number, field.bytes); return;
    case ProtoField::Kind::kFixed: break;
  }
  const unsigned type = field.bytes.size() == sizeof(std::uint64_t) ? kFixed64 : kFixed32;
  varint((std::uint64_t{field.number} << kTypeBits) | type);
  bytes_ += field.bytes;
}

Result<std::optional<ProtoField>> ProtoReader::next() {
  if (rest_.empty()) return std::nullopt;
  const auto key = read_varint(rest_);
  if (!key) return fail(Errc::kProtocol, "a protobuf message that is cut off");
  ProtoField field;
  const std::uint64_t number = *key >> kTypeBits;
  if (number == 0 || number > std::numeric_limits<std::uint32_t>::max())
    return fail(Errc::kProtocol, "a protobuf field without a number");
  field.number = static_cast<std::uint32_t>(number);
  if (!read_value(field, *key & ((1U << kTypeBits) - 1), rest_))
    return fail(Errc::kProtocol, "a protobuf message that is cut off or malformed");
  return field;
}

}  // namespace wardmote::codec
