#include "codec/hpack.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace wardmote::codec {
namespace {

struct Entry {
  std::string_view name;
  std::string_view value;
};

// RFC 7541, Appendix A.
constexpr std::array<Entry, 61> kStatic = {{
    {":authority", ""},
    {":method", "GET"},
    {":method", "POST"},
    {":path", "/"},
    {":path", "/index.html"},
    {":scheme", "http"},
    {":scheme", "https"},
    {":status", "200"},
    {":status", "204"},
    {":status", "206"},
    {":status", "304"},
    {":status", "400"},
    {":status", "404"},
    {":status", "500"},
    {"accept-charset", ""},
    {"accept-encoding", "gzip, deflate"},
    {"accept-language", ""},
    {"accept-ranges", ""},
    {"accept", ""},
    {"access-control-allow-origin", ""},
    {"age", ""},
    {"allow", ""},
    {"authorization", ""},
    {"cache-control", ""},
    {"content-disposition", ""},
    {"content-encoding", ""},
    {"content-language", ""},
    {"content-length", ""},
    {"content-location", ""},
    {"content-range", ""},
    {"content-type", ""},
    {"cookie", ""},
    {"date", ""},
    {"etag", ""},
    {"expect", ""},
    {"expires", ""},
    {"from", ""},
    {"host", ""},
    {"if-match", ""},
    {"if-modified-since", ""},
    {"if-none-match", ""},
    {"if-range", ""},
    {"if-unmodified-since", ""},
    {"last-modified", ""},
    {"link", ""},
    {"location", ""},
    {"max-forwards", ""},
    {"proxy-authenticate", ""},
    {"proxy-authorization", ""},
    {"range", ""},
    {"referer", ""},
    {"refresh", ""},
    {"retry-after", ""},
    {"server", ""},
    {"set-cookie", ""},
    {"strict-transport-security", ""},
    {"transfer-encoding", ""},
    {"user-agent", ""},
    {"vary", ""},
    {"via", ""},
    {"www-authenticate", ""},
}};

constexpr std::size_t kOverhead = 32;  ///< RFC 7541 4.1
constexpr std::uint64_t kLargestNumber = 1U << 28;

std::size_t size_of(const HeaderField& field) noexcept {
  return field.name.size() + field.value.size() + kOverhead;
}

/// RFC 7541 5.1; the first byte's upper bits are the caller's.
Result<std::uint64_t> read_number(std::string_view& rest, unsigned prefix_bits) {
  if (rest.empty()) return fail(Errc::kProtocol, "a header block that is cut");
  const std::uint64_t most = (1U << prefix_bits) - 1;
  std::uint64_t number = static_cast<unsigned char>(rest.front()) & most;
  rest.remove_prefix(1);
  if (number < most) return number;
  for (unsigned shift = 0;; shift += 7) {
    if (rest.empty()) return fail(Errc::kProtocol, "a header block that is cut");
    const auto byte = static_cast<unsigned char>(rest.front());
    rest.remove_prefix(1);
    number += std::uint64_t{byte & 0x7fU} << shift;
    if (number > kLargestNumber || shift > 28)
      return fail(Errc::kLimit, "a number in a header block");
    if ((byte & 0x80) == 0) return number;
  }
}

void write_number(std::string& into, std::uint8_t first, unsigned prefix_bits, std::size_t number) {
  const std::size_t most = (1U << prefix_bits) - 1;
  into += static_cast<char>(first | std::min(number, most));
  if (number < most) return;
  for (number -= most; number >= 0x80; number >>= 7)
    into += static_cast<char>(0x80 | (number & 0x7f));
  into += static_cast<char>(number);
}

Result<std::string> read_text(std::string_view& rest) {
  const bool huffman = !rest.empty() && (static_cast<unsigned char>(rest.front()) & 0x80) != 0;
  const Result<std::uint64_t> length = read_number(rest, 7);
  if (!length) return std::unexpected(length.error());
  if (*length > rest.size()) return fail(Errc::kProtocol, "a header block that is cut");
  const std::string_view bytes = rest.substr(0, *length);
  rest.remove_prefix(*length);
  if (huffman) return decode_huffman(bytes);
  return std::string(bytes);
}

}  // namespace

Result<HeaderField> HpackDecoder::entry(std::uint64_t index) const {
  if (index >= 1 && index <= kStatic.size()) {
    const Entry& known = kStatic[index - 1];
    return HeaderField{std::string(known.name), std::string(known.value)};
  }
  if (index == 0 || index - kStatic.size() > table_.size())
    return fail(Errc::kProtocol, "field {} of a header table that does not have it", index);
  return table_[index - kStatic.size() - 1];
}

void HpackDecoder::shrink(std::size_t bytes) {
  while (held_ > bytes) {
    held_ -= size_of(table_.back());
    table_.pop_back();
  }
}

void HpackDecoder::remember(HeaderField field) {
  const std::size_t size = size_of(field);
  shrink(size > limit_ ? 0 : limit_ - size);
  if (size > limit_) return;
  held_ += size;
  table_.push_front(std::move(field));
}

Result<HeaderField> HpackDecoder::read_field(std::string_view& rest) {
  const auto first = static_cast<unsigned char>(rest.front());
  if ((first & 0x80) != 0) {
    const Result<std::uint64_t> index = read_number(rest, 7);
    if (!index) return std::unexpected(index.error());
    return entry(*index);
  }
  const bool to_remember = (first & 0x40) != 0;
  const Result<std::uint64_t> index = read_number(rest, to_remember ? 6 : 4);
  if (!index) return std::unexpected(index.error());
  HeaderField field;
  if (*index != 0) {
    Result<HeaderField> known = entry(*index);
    if (!known) return known;
    field.name = std::move(known->name);
  } else {
    Result<std::string> name = read_text(rest);
    if (!name) return std::unexpected(name.error());
    field.name = *std::move(name);
  }
  Result<std::string> value = read_text(rest);
  if (!value) return std::unexpected(value.error());
  field.value = *std::move(value);
  if (to_remember) remember(field);
  return field;
}

Result<std::vector<HeaderField>> HpackDecoder::decode(std::string_view block) {
  std::vector<HeaderField> fields;
  std::size_t bytes = 0;
  while (!block.empty()) {
    if ((static_cast<unsigned char>(block.front()) & 0xe0) == 0x20) {
      const Result<std::uint64_t> size = read_number(block, 5);
      if (!size) return std::unexpected(size.error());
      if (*size > most_) return fail(Errc::kProtocol, "a header table of {} bytes", *size);
      limit_ = *size;
      shrink(limit_);
      continue;
    }
    Result<HeaderField> field = read_field(block);
    if (!field) return std::unexpected(field.error());
    bytes += size_of(*field);
    if (bytes > list_bytes_) return fail(Errc::kLimit, "headers over {} bytes", list_bytes_);
    fields.push_back(*std::move(field));
  }
  return fields;
}

void encode_field(std::string& into, std::string_view name, std::string_view value) {
  into += '\0';
  for (const std::string_view text : {name, value}) {
    write_number(into, 0, 7, text.size());
    into.append(text);
  }
}

}  // namespace wardmote::codec
