#pragma once
// By which addresses the others of a mesh know a daemon, as it said last. While it is silent nobody
// else says so, and its sessions could not be told from those of strangers.

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace wardmote::store {

/// Each agent has records of its own, of its checks.
std::string addresses_prefix(std::string_view node);
std::string addresses_key(std::string_view node, std::string_view check);

std::string encode_addresses(std::span<const std::string> addresses);
/// Any text is such a record: an address that no daemon has belongs to nobody.
std::vector<std::string> decode_addresses(std::string_view text);

}  // namespace wardmote::store
