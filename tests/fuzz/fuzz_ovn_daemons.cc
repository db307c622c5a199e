// What the daemons beside OVN's databases answer, and the beginning of a database file: no crash,
// bounded work, and the same header in whatever pieces the file comes.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "codec/ovn_daemons.h"
#include "codec/ovsdb_file.h"
#include "fuzz/fuzz_check.h"

namespace {

using namespace wardmote;

Result<codec::OvsdbRaftHeader> read(std::string_view text, std::size_t step) {
  codec::OvsdbHeaderReader reader;
  for (; !text.empty(); text.remove_prefix(std::min(step, text.size()))) {
    const Result<void> fed = reader.feed(text.substr(0, step));
    if (!fed) return std::unexpected(fed.error());
  }
  return reader.header();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view input = fuzz::text(data + 1, size - 1);
  static_cast<void>(codec::parse_northd_status(input));
  static_cast<void>(codec::parse_connection_status(input));
  static_cast<void>(codec::parse_debug_status(input));
  const auto version = codec::parse_version(input);
  if (version) FUZZ_CHECK(version->size() <= input.size());
  std::string_view json = input;
  const auto record = codec::parse_ovsdb_record(input);
  if (record) {
    FUZZ_CHECK(record->line <= input.size());
    json = input.substr(record->line);
  }
  const auto whole = read(json, json.size() + 1);
  const auto pieces = read(json, 1 + data[0] % 64U);
  FUZZ_CHECK(whole.has_value() == pieces.has_value());
  if (whole) {
    FUZZ_CHECK(whole->server_id == pieces->server_id);
    FUZZ_CHECK(whole->local_address == pieces->local_address);
  }
  return 0;
}
