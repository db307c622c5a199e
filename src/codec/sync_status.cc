#include "codec/sync_status.h"

#include <algorithm>
#include <array>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <cstddef>
#include <expected>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "base/format.h"
#include "base/result.h"
#include "base/text.h"

namespace wardmote::codec {
namespace {

using Link = SyncStatus::Link;

/// Longer ones are cut: a name or an address.
constexpr std::size_t kLongestWord = 256;

struct LinkWord {
  Link link;
  std::string_view before;
  std::string_view after;
};

constexpr auto kLinks = std::to_array<LinkWord>({{Link::kReplicating, "replicating: ", ""},
                                                 {Link::kConnecting, "connecting: ", ""},
                                                 {Link::kLost, "not connected to ", ""},
                                                 {Link::kFailed, "Replication to (", ") failed"}});

std::string word(std::string_view text) {
  return std::string(trim(text).substr(0, kLongestWord));
}

/// One block while it is read.
struct Block {
  SyncStatus status;
  bool state = false;
  bool database = false;
  bool unreadable = false;

  [[nodiscard]] bool begun() const noexcept { return state || database; }
};

bool read_link(std::string_view line, SyncStatus& status) {
  for (const LinkWord& one : kLinks) {
    std::string_view rest = line;
    if (!consume_prefix(rest, one.before) || !rest.ends_with(one.after)) continue;
    rest.remove_suffix(one.after.size());
    status.link = one.link;
    status.source = word(rest);
    return true;
  }
  return false;
}

/// Lines that are not known are passed over, as `exclude: …`.
void read_line(std::string_view line, Block& block) {
  if (consume_prefix(line, "state:")) {
    const std::string_view state = trim(line);
    block.state = true;
    block.status.active = state == "active";
    block.unreadable = state != "active" && state != "backup";
  } else if (consume_prefix(line, "database:")) {
    block.database = true;
    block.status.database = word(line);
  } else {
    read_link(line, block.status);
  }
}

}  // namespace

Result<std::vector<SyncStatus>> parse_sync_status(std::string_view text) {
  std::vector<SyncStatus> found;
  Block block;
  bool unreadable = false;
  const auto end = [&] {
    if (block.state && found.size() < kMostSyncStatuses) found.push_back(block.status);
    unreadable = unreadable || block.unreadable || (block.database && !block.state);
    block = {};
  };
  while (!text.empty()) {
    const std::string_view line = trim(take_until(text, '\n'));
    const bool again = (block.state && line.starts_with("state:")) ||
                       (block.database && line.starts_with("database:"));
    if (block.begun() && (line.empty() || again)) end();
    read_line(line, block);
  }
  if (block.begun()) end();
  if (found.empty() || unreadable)
    return fail(Errc::kProtocol, "sync-status: no state that is known");
  return found;
}

Result<SyncStatus> sync_status_of(std::string_view text, std::string_view database) {
  const Result<std::vector<SyncStatus>> all = parse_sync_status(text);
  if (!all) return std::unexpected(all.error());
  auto one = std::ranges::find(*all, database, &SyncStatus::database);
  if (one == all->end()) one = std::ranges::find(*all, "", &SyncStatus::database);
  if (one == all->end())
    return fail(Errc::kMissing, "sync-status: nothing about {}", escape_control(database, 64));
  return *one;
}

std::string format(const std::vector<SyncStatus>& statuses) {
  std::string text;
  for (const SyncStatus& one : statuses) {
    if (!text.empty()) text += '\n';
    if (!one.database.empty())
      fmt::format_to(std::back_inserter(text), "database: {}\n", one.database);
    fmt::format_to(std::back_inserter(text), "state: {}\n", one.active ? "active" : "backup");
    const auto* const link = std::ranges::find(kLinks, one.link, &LinkWord::link);
    if (link != kLinks.end())
      fmt::format_to(std::back_inserter(text), "{}{}{}\n", link->before, one.source, link->after);
  }
  return text;
}

}  // namespace wardmote::codec
