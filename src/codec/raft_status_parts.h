#pragma once
// The pieces of a raft status' text, and what its text and JSON form share; for raft_status*.cc
// only.

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

/// Hex digits and hyphens, as many as a UUID has at most.
bool is_raft_id(std::string_view text) noexcept;

/// Keeps a line that was not understood in `lines` while the cap of the whole status allows it;
/// counts it always.
void keep_unknown(RaftStatus& status, std::vector<std::string>& lines, std::string_view line);

/// One line of the `Servers:` block without its indent, in either shape; what is not understood of
/// it is in RaftServer::rest.
std::optional<RaftServer> parse_raft_server(std::string_view line);

/// The value of a field, if it is one.
bool read_word(std::string& into, std::string_view value);
bool read_number(std::optional<std::uint64_t>& into, std::string_view value);

// These take what they name off the front of `rest`, with the white space after it, or leave it.

/// `<nick> (<id> at <address>)`.
bool take_identity(RaftChange& change, std::string_view& rest);
/// `N ms ago`.
std::optional<std::uint64_t> take_age(std::string_view& rest);
/// A parenthesised group, without its parentheses and outer space. An address may hold a
/// parenthesis of its own, so the group ends where the line, a new word or a new group follows.
std::optional<std::string_view> take_group(std::string_view& rest);

}  // namespace wardmote::codec
