#include "codec/raft_status.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "codec/raft_status_parts.h"
#include "codec/unicode_space.h"

namespace wardmote::codec {
namespace {

constexpr std::size_t kMaxBytes = 1 << 20;
constexpr std::size_t kMaxEntries = 4096;
constexpr std::size_t kUnknownLinesKept = 32;
constexpr std::size_t kUnknownBytesKept = 8 << 10;

bool read_word(std::string& into, std::string_view value) {
  if (value.empty()) return false;
  into = value;
  return true;
}

bool read_number(std::optional<std::uint64_t>& into, std::string_view value) {
  into = parse_number<std::uint64_t>(value);
  return into.has_value();
}

/// Takes `N ms ago` off the front of `rest`.
std::optional<std::uint64_t> take_age(std::string_view& rest) {
  std::string_view ahead = rest;
  const auto age = parse_number<std::uint64_t>(take_word(ahead));
  if (!age || take_word(ahead) != "ms" || !consume_prefix(ahead, "ago")) return std::nullopt;
  if (!ahead.empty() && ahead.front() != ',' && leading_space(ahead) == 0) return std::nullopt;
  rest = trim_space_left(ahead);
  return age;
}

/// Takes a parenthesised group off the front of `rest`, without its parentheses and outer space. An
/// address may hold a parenthesis of its own, so the group ends where the line or a new word or
/// group follows.
std::optional<std::string_view> take_group(std::string_view& rest) {
  if (!rest.starts_with('(')) return std::nullopt;
  std::size_t close = rest.find(')');
  if (close == std::string_view::npos) return std::nullopt;
  for (std::size_t at = close; at != std::string_view::npos; at = rest.find(')', at + 1)) {
    const char next = at + 1 < rest.size() ? rest[at + 1] : ' ';
    if (next != '(' && !is_ascii_space(next)) continue;
    close = at;
    break;
  }
  const std::string_view inner = trim_space(rest.substr(1, close - 1));
  rest = trim_space_left(rest.substr(close + 1));
  return inner;
}

/// The word in front of a parenthesis or of white space.
std::string_view take_name(std::string_view& rest) {
  std::size_t end = 0;
  while (end < rest.size() && !is_ascii_space(rest[end]) && rest[end] != '(') ++end;
  const std::string_view name = rest.substr(0, end);
  rest = trim_space_left(rest.substr(end));
  return name;
}

/// `<nick> (<id> at <address>)`, as RaftServer and RaftChange carry it.
template <class Named>
bool take_identity(Named& named, std::string_view& rest) {
  std::string_view ahead = rest;
  const std::string_view nickname = take_name(ahead);
  const auto inner = take_group(ahead);
  if (nickname.empty() || !inner) return false;
  std::string_view address = *inner;
  const std::string_view id = take_word(address);
  if (!is_raft_id(id) || take_word(address) != "at" || address.empty()) return false;
  named.nickname = nickname;
  named.id = id;
  named.address = address;
  rest = ahead;
  return true;
}

/// `<id>[ (self)] at <address> (<role>)`: no OVS prints it, but `pkg/ovnstatus` read it.
bool take_identity_with_role(RaftServer& server, std::string_view& rest) {
  std::string_view ahead = rest;
  const std::string_view id = take_name(ahead);
  const bool self = consume_prefix(ahead, "(self)");
  ahead = trim_space_left(ahead);
  if (!is_raft_id(id) || take_word(ahead) != "at") return false;
  std::string_view address = take_word(ahead);
  std::optional<std::string_view> role = take_group(ahead);
  if (!role && address.ends_with(')')) {
    std::string_view group = address.substr(std::min(address.rfind('('), address.size()));
    address.remove_suffix(group.size());
    role = take_group(group);
  }
  if (!role || role->empty() || address.empty()) return false;
  server.nickname = id;
  server.id = id;
  server.address = address;
  server.role = *role;
  server.self = self;
  rest = ahead;
  return true;
}

/// Reads what follows a server's identity, by keyword and in any order.
class ServerDetails {
 public:
  explicit ServerDetails(RaftServer& server) noexcept : server_(server) {}

  void read(std::string_view rest) {
    while (!rest.empty()) {
      std::string_view ahead = rest;
      if (take_known(ahead)) {
        close_run();
      } else {
        ahead = rest;
        extend_run(take_unknown(ahead));
      }
      rest = trim_space_left(ahead);
    }
    close_run();
  }

 private:
  /// Adjacent words that were not understood stay together as they were printed; separate runs are
  /// told apart by ` ; `.
  void extend_run(std::string_view word) {
    const char* const begin = run_.empty() ? word.data() : run_.data();
    run_ = {begin, static_cast<std::size_t>(word.data() + word.size() - begin)};
  }
  void close_run() {
    if (run_.empty()) return;
    if (!server_.rest.empty()) server_.rest += " ; ";
    server_.rest += trim_space(run_);
    run_ = {};
  }

  static std::string_view take_unknown(std::string_view& rest) {
    const std::string_view all = rest;
    if (!rest.starts_with('(')) return take_word(rest);
    if (take_group(rest)) return all.substr(0, all.size() - rest.size());
    rest = {};
    return all;
  }

  bool take_known(std::string_view& rest) {
    if (rest.starts_with('(')) {
      const auto group = take_group(rest);
      return group && read_group(*group);
    }
    std::string_view value = take_word(rest);
    if (value == "last") {
      if (server_.last_message_ms || take_word(rest) != "msg") return false;
      server_.last_message_ms = take_age(rest);
      return server_.last_message_ms.has_value();
    }
    const std::string_view key = take_until(value, '=');
    if (key == "next_index") return !server_.next_index && read_number(server_.next_index, value);
    if (key == "match_index")
      return !server_.match_index && read_number(server_.match_index, value);
    if (key == "connected" && !server_.connected && (value == "true" || value == "false")) {
      server_.connected = value == "true";
      return true;
    }
    return false;
  }

  bool read_group(std::string_view group) {
    if (group == "self") {
      const bool first = !server_.self;
      server_.self = true;
      return first;
    }
    if (consume_prefix(group, "voted for ")) {
      return server_.voted_for.empty() && read_word(server_.voted_for, trim_space_left(group));
    }
    return server_.phase.empty() && read_word(server_.phase, group);
  }

  RaftServer& server_;
  std::string_view run_;
};

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
    // Fields come in a fixed order, so the next one is nearly always where the search begins.
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
    RaftServer server;
    if (!take_identity_with_role(server, line) && !take_identity(server, line)) {
      return keep_unknown(status_, status_.unknown_server_lines, line);
    }
    if (status_.servers.size() == kMaxRaftServers) over_limit_ = true;
    ServerDetails(server).read(line);
    if (!server.rest.empty()) ++status_.unknown_count;
    if (status_.servers.empty()) status_.servers.reserve(4);
    status_.servers.push_back(std::move(server));
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

  /// `b563 (b563dad3-5d5e-…)`: the long form holds the short one.
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

bool is_raft_id(std::string_view text) noexcept {
  const auto is_hex = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
  };
  const auto digits = std::ranges::count_if(text, is_hex);
  return digits >= 1 && digits <= 32 && digits + std::ranges::count(text, '-') == std::ssize(text);
}

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
