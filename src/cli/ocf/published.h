#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "judge/failover/candidate.h"

namespace wardmote::cli::ocf {

/// How a node describes its copy to the other nodes: the value of a private attribute of the
/// cluster
/// (`wardmote-<resource>`), which is no part of the CIB and starts no transition. A node without
/// the attribute runs the stock agent. Settled is a copy that copies from nobody.
std::string publish(const judge::failover::Position& position, bool quarantined, bool settled);
/// Fields that are not known are passed over, and those that are missing say nothing.
judge::failover::Peer parse_published(std::string_view node, std::string_view text);

/// What `attrd_updater --query --all` prints: `name="…" host="n1" value="…"`, a line for each node.
std::vector<judge::failover::Peer> parse_peers(std::string_view output);

}  // namespace wardmote::cli::ocf
