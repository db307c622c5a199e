#pragma once
// Parts of a raft status' text, shared by its text and JSON form; for raft_status*.cc only.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "codec/raft_status.h"

namespace wardmote::codec {

constexpr std::size_t kMaxRaftServers = 1024;

/// The JSON form of parse_raft_status().
Result<RaftStatus> parse_raft_status_json(std::string_view text);

/// Hex digits and hyphens, at most as many as a UUID has.
bool is_raft_id(std::string_view text) noexcept;

/// Counts a line that was not understood; keeps it in `lines` while the limit of the whole status
/// allows it.
void keep_unknown(RaftStatus& status, std::vector<std::string>& lines, std::string_view line);

/// One line of the `Servers:` block without its indent, in either form; the parts that are not
/// understood go to RaftServer::rest.
std::optional<RaftServer> parse_raft_server(std::string_view line);

/// The value of a field, if it is one.
bool read_word(std::string& into, std::string_view value);
bool read_number(std::optional<std::uint64_t>& into, std::string_view value);

// These cut the named part, and the white space after it, off the front of `rest`, or leave `rest`
// unchanged.

/// `<nick> (<id> at <address>)`.
bool take_identity(RaftChange& change, std::string_view& rest);
/// `N ms ago`.
std::optional<std::uint64_t> take_age(std::string_view& rest);
/// A parenthesised group, without its parentheses and outer space. An address may contain a
/// parenthesis, so the group ends before the end of the line, a new word or a new group.
std::optional<std::string_view> take_group(std::string_view& rest);

}  // namespace wardmote::codec
