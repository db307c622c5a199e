#include "codec/raft_status.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/text.h"
#include "codec/raft_status_parts.h"
#include "codec/unicode_space.h"

namespace wardmote::codec {
namespace {

constexpr std::size_t kMaxBytes = 1 << 20;
constexpr std::size_t kMaxEntries = 4096;
constexpr std::size_t kUnknownLinesKept = 32;
constexpr std::size_t kUnknownBytesKept = 8 << 10;

class Parser {
 public:
  Result<RaftStatus> parse(std::string_view text) {
    std::string_view rest = text;
    read_first_line(take_until(rest, '\n'));
    while (!rest.empty() && !over_limit_) read_line(take_until(rest, '\n'));
    if (over_limit_) return fail(Errc::kLimit, "cluster/status: too many entries");
    if (seen_ == 0 && !status_.lists_servers)
      return fail(Errc::kProtocol, "cluster/status: not a status");
    return std::move(status_);
  }

 private:
  enum class Block : std::uint8_t { kOutside, kHeader, kInside };
  struct Field {
    std::string_view key;
    bool (Parser::*read)(std::string_view value);
    bool repeats = false;
  };
  static const std::array<Field, 22> kFields;

  /// Only the very first line may be the nickname, and it is one word.
  void read_first_line(std::string_view line) {
    line = trim_space(line);
    if (line.contains(':') || std::ranges::any_of(line, is_ascii_space)) return read_field(line);
    status_.nickname = line;
  }

  void read_line(std::string_view line) {
    const bool indented = leading_space(line) != 0;
    line = trim_space(line);
    if (block_ == Block::kOutside) return read_field(line);
    if (line.empty()) {
      if (block_ == Block::kInside) block_ = Block::kOutside;
    } else if (indented || line.starts_with('-')) {
      block_ = Block::kInside;
      read_server(line);
    } else {
      block_ = Block::kOutside;
      read_field(line);
    }
  }

  void read_field(std::string_view line) {
    if (line.empty()) return;
    if (line == "Servers:") {
      status_.lists_servers = true;
      block_ = Block::kHeader;
      return;
    }
    // Fields have a fixed order, so the next one is nearly always where the search begins.
    for (std::size_t step = 0; step < kFields.size(); ++step) {
      const std::size_t at = (expected_ + step) % kFields.size();
      const Field& field = kFields[at];
      if (!line.starts_with(field.key)) continue;
      const std::uint32_t bit = std::uint32_t{1} << at;
      if (!field.repeats && (seen_ & bit) != 0) break;
      if (!(this->*field.read)(trim_space_left(line.substr(field.key.size())))) break;
      seen_ |= bit;
      expected_ = field.repeats ? at : at + 1;
      return;
    }
    keep_unknown(status_, status_.unknown_lines, line);
  }

  void read_server(std::string_view line) {
    while (line.size() > 1 && line.front() == '-' && leading_space(line.substr(1)) != 0) {
      line = trim_space_left(line.substr(1));
    }
    std::optional<RaftServer> server = parse_raft_server(line);
    if (!server) return keep_unknown(status_, status_.unknown_server_lines, line);
    if (status_.servers.size() == kMaxRaftServers) over_limit_ = true;
    if (!server->rest.empty()) ++status_.unknown_count;
    if (status_.servers.empty()) status_.servers.reserve(4);
    status_.servers.push_back(*std::move(server));
  }

  bool name(std::string_view value) { return read_word(status_.name, value); }
  bool address(std::string_view value) { return read_word(status_.address, value); }
  bool standing(std::string_view value) { return read_word(status_.standing, value); }
  bool role(std::string_view value) { return read_word(status_.role, value); }
  bool term(std::string_view value) { return read_number(status_.term, value); }
  bool leader(std::string_view value) { return read_word(status_.leader, value); }
  bool vote(std::string_view value) { return read_word(status_.vote, value); }
  bool uncommitted(std::string_view value) { return read_number(status_.uncommitted, value); }
  bool unapplied(std::string_view value) { return read_number(status_.unapplied, value); }
  bool disconnections(std::string_view value) { return read_number(status_.disconnections, value); }
  bool index(std::string_view value) { return read_number(status_.index, value); }

  bool connected(std::string_view value) {
    if (value == "true" || value == "false") status_.connected = value == "true";
    return status_.connected.has_value();
  }

  /// `b563 (b563dad3-5d5e-…)`: the long form begins with the short one.
  static bool read_id(std::string& into, std::string_view value) {
    const std::string_view brief = take_word(value);
    if (value.empty()) return is_raft_id(brief) && read_word(into, brief);
    const auto full = take_group(value);
    if (!full || !value.empty() || !is_raft_id(*full) || full->size() <= 4 ||
        full->substr(0, 4) != brief)
      return false;
    return read_word(into, *full);
  }
  bool cluster_id(std::string_view value) {
    return value == "not yet known" || read_id(status_.cluster_id, value);
  }
  bool server_id(std::string_view value) { return read_id(status_.server_id, value); }

  bool join_remotes(std::string_view value) {
    if (value.empty()) return false;
    while (!value.empty() && !over_limit_) {
      status_.join_remotes.emplace_back(take_word(value));
      over_limit_ = status_.join_remotes.size() > kMaxEntries;
    }
    return true;
  }

  bool change(bool adding, std::string_view value) {
    RaftChange change{.adding = adding};
    if (!take_identity(change, value)) return false;
    if (const auto phase = take_group(value)) change.phase = *phase;
    if (!value.empty()) return false;
    status_.changes.push_back(std::move(change));
    over_limit_ = over_limit_ || status_.changes.size() > kMaxEntries;
    return true;
  }
  bool adding(std::string_view value) { return change(true, value); }
  bool removing(std::string_view value) { return change(false, value); }

  bool election_started(std::string_view value) {
    const auto age = take_age(value);
    if (!age || (!value.empty() && !consume_prefix(value, ", reason:"))) return false;
    status_.election_started_ms = age;
    status_.election_reason = trim_space_left(value);
    return true;
  }
  bool election_won(std::string_view value) {
    status_.election_won_ms = take_age(value);
    if (!value.empty()) status_.election_won_ms.reset();
    return status_.election_won_ms.has_value();
  }
  bool election_timer(std::string_view value) {
    const auto timer = parse_number<std::uint64_t>(take_word(value));
    std::optional<std::uint64_t> next;
    if (auto change = take_group(value)) {
      if (consume_prefix(*change, "changing to ")) next = parse_number<std::uint64_t>(*change);
      if (!next) return false;
    }
    if (!timer || !value.empty()) return false;
    status_.election_timer_ms = timer;
    status_.election_timer_next_ms = next;
    return true;
  }

  bool log(std::string_view value) {
    if (!consume_prefix(value, "[") || !value.ends_with(']')) return false;
    value.remove_suffix(1);
    const auto start = parse_number<std::uint64_t>(trim(take_until(value, ',')));
    const auto next = parse_number<std::uint64_t>(trim(value));
    if (!start || !next) return false;
    status_.log = RaftLog{*start, *next};
    return true;
  }

  static std::optional<RaftLink> read_link(std::string_view word) {
    RaftLink link;
    if (consume_prefix(word, "(")) {
      if (!word.ends_with(')')) return std::nullopt;
      word.remove_suffix(1);
      link.up = false;
    }
    link.outgoing = consume_prefix(word, "->");
    if (!link.outgoing && !consume_prefix(word, "<-")) return std::nullopt;
    if (word.empty()) return std::nullopt;
    link.peer = word;
    return link;
  }
  bool connections(std::string_view value) {
    status_.links.reserve(4);
    std::string unknown;
    while (!value.empty() && !over_limit_) {
      const std::string_view word = take_word(value);
      if (std::optional<RaftLink> link = read_link(word)) {
        status_.links.push_back(*std::move(link));
        over_limit_ = status_.links.size() > kMaxEntries;
      } else {
        unknown += fmt::format(" {}", word);
      }
    }
    if (!unknown.empty()) keep_unknown(status_, status_.unknown_lines, "Connections:" + unknown);
    return true;
  }

  RaftStatus status_;
  std::uint32_t seen_ = 0;
  std::size_t expected_ = 0;
  Block block_ = Block::kOutside;
  bool over_limit_ = false;
};

const std::array<Parser::Field, 22> Parser::kFields{{
    {"Name:", &Parser::name},
    {"Cluster ID:", &Parser::cluster_id},
    {"Server ID:", &Parser::server_id},
    {"Address:", &Parser::address},
    {"Status:", &Parser::standing},
    {"Remotes for joining:", &Parser::join_remotes},
    {"Adding server ", &Parser::adding, true},
    {"Removing server ", &Parser::removing, true},
    {"Role:", &Parser::role},
    {"Term:", &Parser::term},
    {"Leader:", &Parser::leader},
    {"Vote:", &Parser::vote},
    {"Last Election started ", &Parser::election_started},
    {"Last Election won:", &Parser::election_won},
    {"Election timer:", &Parser::election_timer},
    {"Log:", &Parser::log},
    {"Entries not yet committed:", &Parser::uncommitted},
    {"Entries not yet applied:", &Parser::unapplied},
    {"Connections:", &Parser::connections},
    {"Disconnections:", &Parser::disconnections},
    {"Index:", &Parser::index},
    {"Connected:", &Parser::connected},
}};

}  // namespace

void keep_unknown(RaftStatus& status, std::vector<std::string>& lines, std::string_view line) {
  ++status.unknown_count;
  std::size_t bytes = line.size();
  for (const std::string& kept : status.unknown_lines) bytes += kept.size();
  for (const std::string& kept : status.unknown_server_lines) bytes += kept.size();
  const std::size_t kept = status.unknown_lines.size() + status.unknown_server_lines.size();
  if (kept < kUnknownLinesKept && bytes <= kUnknownBytesKept) lines.emplace_back(line);
}

Result<RaftStatus> parse_raft_status(std::string_view text) {
  if (text.size() > kMaxBytes) return fail(Errc::kLimit, "cluster/status: {} bytes", text.size());
  if (trim_space_left(text).starts_with('{')) return parse_raft_status_json(text);
  return Parser().parse(text);
}

}  // namespace wardmote::codec
