#include "codec/ovsdb_file.h"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "base/text.h"

namespace wardmote::codec {
namespace {

constexpr std::size_t kSha1Digits = 40;
constexpr std::size_t kLongestLine = 128;
/// Longer strings of the outermost object are cut: no id, name or address is as long.
constexpr std::size_t kLongestText = 512;
constexpr std::size_t kDeepest = 64;

}  // namespace

Result<OvsdbRecord> parse_ovsdb_record(std::string_view begin) {
  std::string_view rest = begin.substr(0, kLongestLine);
  const std::size_t end = rest.find('\n');
  if (end == std::string_view::npos) return fail(Errc::kProtocol, "no first line of a record");
  rest = rest.substr(0, end);
  OvsdbRecord record;
  record.line = end + 1;
  if (!consume_prefix(rest, "OVSDB "))
    return fail(Errc::kProtocol, "the file does not begin as a database");
  record.clustered = consume_prefix(rest, "CLUSTER ");
  if (!record.clustered && !consume_prefix(rest, "JSON "))
    return fail(Errc::kProtocol, "the file is of an unknown format");
  const auto bytes = parse_number<std::uint64_t>(take_until(rest, ' '));
  if (!bytes || rest.size() != kSha1Digits)
    return fail(Errc::kProtocol, "the first line of a record is malformed");
  record.bytes = *bytes;
  return record;
}

void OvsdbHeaderReader::end_text() {
  in_text_ = false;
  if (!std::exchange(wanted_, false)) return;
  if (!value_) {
    key_ = std::exchange(text_, {});
    return;
  }
  if (key_ == "name") header_.name = std::exchange(text_, {});
  if (key_ == "server_id") header_.server_id = std::exchange(text_, {});
  if (key_ == "cluster_id") header_.cluster_id = std::exchange(text_, {});
  if (key_ == "local_address") header_.local_address = std::exchange(text_, {});
  text_.clear();
}

Result<void> OvsdbHeaderReader::take(char c) {
  if (in_text_) {
    if (!escaped_ && c == '"') {
      end_text();
      return {};
    }
    // An escaped character is kept as it is: none of the wanted texts has any.
    escaped_ = !escaped_ && c == '\\';
    if (wanted_ && text_.size() < kLongestText) text_ += c;
    return {};
  }
  switch (c) {
    case '"':
      in_text_ = true;
      escaped_ = false;
      wanted_ = depth_ == 1;
      text_.clear();
      break;
    case '{':
    case '[':
      if (++depth_ > kDeepest) return fail(Errc::kLimit, "nested deeper than {}", kDeepest);
      break;
    case '}':
    case ']':
      if (depth_ == 0) return fail(Errc::kProtocol, "a bracket that was not opened");
      done_ = --depth_ == 0;
      break;
    case ':':
      if (depth_ == 1) {
        value_ = true;
        header_.joining |= key_ == "remote_addresses";
      }
      break;
    case ',':
      if (depth_ == 1) value_ = false;
      break;
    default: break;
  }
  return {};
}

Result<void> OvsdbHeaderReader::feed(std::string_view bytes) {
  for (const char c : bytes) {
    if (done_) return {};
    if (depth_ == 0 && c != '{') return fail(Errc::kProtocol, "the record is not an object");
    const Result<void> taken = take(c);
    if (!taken) return taken;
  }
  return {};
}

Result<OvsdbRaftHeader> OvsdbHeaderReader::header() const {
  if (!done_) return fail(Errc::kProtocol, "the first record is cut short");
  if (header_.server_id.empty() || header_.name.empty())
    return fail(Errc::kProtocol, "the first record names no server");
  return header_;
}

}  // namespace wardmote::codec
