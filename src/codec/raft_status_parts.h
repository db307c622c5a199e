#pragma once
// What the text and the JSON form of a raft status share; for raft_status*.cc only.

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

}  // namespace wardmote::codec
