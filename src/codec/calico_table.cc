#include "codec/calico_table.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/text.h"
#include "codec/unicode_space.h"

namespace wardmote::codec {
namespace {

constexpr std::size_t kMaxLine = 64 << 10;
constexpr std::size_t kMaxPeers = 65'536;
constexpr std::size_t kQuoted = 120;

/// Splits as strings.Fields of Go does.
std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  text = trim_space(text);
  while (!text.empty()) words.push_back(take_word(text));
  return words;
}

}  // namespace

std::optional<std::string> GoLines::next() {
  if (too_long_) return std::nullopt;
  const std::size_t end = held_.find('\n');
  if (end == std::string::npos && held_.size() >= kMaxLine) {
    too_long_ = true;
    return std::nullopt;
  }
  if (end == std::string::npos && (!ended_ || held_.empty())) return std::nullopt;
  std::string line = held_.substr(0, end);
  held_.erase(0, end == std::string::npos ? held_.size() : end + 1);
  if (line.size() >= kMaxLine) {
    too_long_ = true;
    return std::nullopt;
  }
  if (line.ends_with('\r')) line.pop_back();
  return line;
}

CalicoTable::Step CalicoTable::read(std::string_view line) {
  return query_ == Query::kPeers ? read_peers(line) : read_restart(line);
}

CalicoTable::Step CalicoTable::read_peers(std::string_view line) {
  constexpr auto kHeadings =
      std::to_array<std::string_view>({"name", "proto", "table", "state", "since", "info"});
  if (line.starts_with("0000")) return Step::kDone;
  if (line.starts_with("0001")) return Step::kMore;
  const bool headings = line.starts_with("2002");
  if (headings || line.starts_with("1002")) {
    if (line.size() < 5) return panic();
    line.remove_prefix(5);
    if (!headings) {
      read_row(line);
    } else if (!std::ranges::equal(words_of(line), kHeadings)) {
      error_ = "unknown BIRD table output format";
      return Step::kError;
    }
    return Step::kMore;
  }
  if (!line.starts_with(' ')) return unexpected(line);
  read_row(line.substr(1));
  return Step::kMore;
}

CalicoTable::Step CalicoTable::read_restart(std::string_view line) {
  constexpr auto kPassedOver = std::to_array<std::string_view>({"0001", "1000", "1011", " "});
  if (line.starts_with("0013")) return Step::kDone;
  if (line.starts_with("0024")) {
    restarting_ = true;
    return Step::kDone;
  }
  const bool known = std::ranges::any_of(
      kPassedOver, [&](std::string_view begin) { return line.starts_with(begin); });
  return known ? Step::kMore : unexpected(line);
}

CalicoTable::Step CalicoTable::unexpected(std::string_view line) {
  error_ = fmt::format("unexpected output line from BIRD: '{}'", escape_control(line, kQuoted));
  return Step::kError;
}

CalicoTable::Step CalicoTable::panic() {
  error_ = "panic: runtime error: slice bounds out of range [5:4]";
  return Step::kPanic;
}

void CalicoTable::read_row(std::string_view row) {
  const std::vector<std::string_view> words = words_of(row);
  if (words.size() < 6 || words[1] != "BGP" || peers_.size() == kMaxPeers) return;
  std::string_view ip = words[0];
  const std::string_view type = take_until(ip, '_');
  if ((type != "Global" && type != "Node" && type != "Mesh") || ip.empty()) return;
  CalicoPeer peer{std::string(ip), std::string(words[5])};
  std::ranges::replace(peer.ip, '_', ipv6_ ? ':' : '.');
  peers_.push_back(std::move(peer));
}

}  // namespace wardmote::codec
