#include "cli/ocf/published.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/epoch_ms.h"
#include "base/format.h"
#include "base/text.h"
#include "base/time.h"
#include "base/version.h"
#include "judge/failover/candidate.h"

namespace wardmote::cli::ocf {
namespace {

using judge::failover::Peer;
using judge::failover::Position;

constexpr std::size_t kMostPeers = 256;

std::string_view yes_no(bool value) noexcept {
  return value ? "yes" : "no";
}

/// A client can write any name of a node into the database, and this is a list.
std::string_view plain(std::string_view name) noexcept {
  return name.find_first_of(";:\"\n") == std::string_view::npos ? name : std::string_view();
}

/// The value of `name="…"` in a line.
std::string_view quoted(std::string_view line, std::string_view name) {
  const std::string wanted = fmt::format("{}=\"", name);
  const std::size_t begin = line.find(wanted);
  if (begin == std::string_view::npos) return {};
  std::string_view rest = line.substr(begin + wanted.size());
  return rest.substr(0, rest.find('"'));
}

}  // namespace

std::string publish(const Position& position, bool quarantined, bool settled) {
  const std::int64_t changed = position.changed ? epoch_ms(*position.changed) : 0;
  return fmt::format(
      "v:{};epoch:{};by:{};empty:{};sync:{};cfg:{};changed:{};size:{};quarantined:{};settled:{}",
      kVersion, position.epoch, plain(position.author), yes_no(position.empty),
      to_string(position.sync), position.counter, changed, position.size, yes_no(quarantined),
      yes_no(settled));
}

Peer parse_published(std::string_view node, std::string_view text) {
  Peer peer;
  peer.name = node;
  while (!text.empty()) {
    std::string_view value = take_until(text, ';');
    const std::string_view key = take_until(value, ':');
    if (key == "epoch") peer.position.epoch = parse_number<std::uint64_t>(value).value_or(0);
    if (key == "by") peer.position.author = value;
    if (key == "empty") peer.position.empty = value == "yes";
    if (key == "sync") peer.position.sync = judge::failover::parse_sync_state(value);
    if (key == "cfg") peer.position.counter = parse_number<std::int64_t>(value).value_or(0);
    if (key == "size") peer.position.size = parse_number<std::uint64_t>(value).value_or(0);
    if (key == "quarantined") peer.quarantined = value == "yes";
    if (key == "settled") peer.settled = value == "yes";
    if (key != "changed") continue;
    const std::int64_t changed = parse_number<std::int64_t>(value).value_or(0);
    if (changed > 0) peer.position.changed = moment_of_epoch_ms(changed);
  }
  return peer;
}

std::vector<Peer> parse_peers(std::string_view output) {
  std::vector<Peer> peers;
  while (!output.empty() && peers.size() < kMostPeers) {
    const std::string_view line = take_until(output, '\n');
    const std::string_view node = quoted(line, "host");
    const std::string_view value = quoted(line, "value");
    if (!node.empty() && value.starts_with("v:")) peers.push_back(parse_published(node, value));
  }
  return peers;
}

}  // namespace wardmote::cli::ocf
