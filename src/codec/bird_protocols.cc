#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <ranges>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "base/result.h"
#include "base/text.h"
#include "base/utf8.h"
#include "codec/bird.h"
#include "codec/bird_parts.h"

namespace wardmote::codec {
namespace {

constexpr unsigned kHeadings = 2002;
constexpr unsigned kRow = 1002;
constexpr unsigned kDetail = 1006;
constexpr unsigned kEnd = 0;
constexpr std::size_t kMaxProtocols = 8192;
constexpr std::size_t kMaxChannels = 16;
constexpr std::size_t kQuoted = 120;

/// BIRD 1.6 writes them in lower case, BIRD 2 capitalised.
constexpr std::string_view kColumns[] = {"name", "proto", "table", "state", "since", "info"};

bool same_word(std::string_view text, std::string_view lower) noexcept {
  return std::ranges::equal(text, lower, [](char a, char b) {
    return (a >= 'A' && a <= 'Z' ? static_cast<char>(a - 'A' + 'a') : a) == b;
  });
}

bool are_headings(std::string_view text) noexcept {
  for (const std::string_view column : kColumns) {
    if (!same_word(take_bird_word(text), column)) return false;
  }
  return text.empty();
}

/// `shape` has `0` for a digit; a fraction may follow.
bool has_shape(std::string_view text, std::string_view shape) noexcept {
  if (text.size() < shape.size()) return false;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const bool digit = text[i] >= '0' && text[i] <= '9';
    if (shape[i] == '0' ? !digit : text[i] != shape[i]) return false;
  }
  text.remove_prefix(shape.size());
  return text.empty() || text.front() == '.';
}

bool is_date(std::string_view text) noexcept {
  return has_shape(text, "0000-00-00");
}

bool is_time(std::string_view text) noexcept {
  return has_shape(text, "00:00:00");
}

bool is_session_state(std::string_view word) noexcept {
  constexpr std::string_view kStates[] = {"Idle",        "Connect",     "Active", "OpenSent",
                                          "OpenConfirm", "Established", "Close",  "Passive"};
  return std::ranges::find(kStates, word) != std::ranges::end(kStates);
}

/// A time format of the operator may have several words, `Nov 21 07:54:13 2026`.
constexpr int kMostSinceWords = 8;

/// The text before the session's state, in any time format. Nothing when there is no state.
std::optional<std::string> since_before_state(std::string_view& rest) {
  std::string since;
  std::string_view ahead = rest;
  for (int words = 0; words <= kMostSinceWords && !ahead.empty(); ++words) {
    const std::string_view from = ahead;
    const std::string_view word = take_bird_word(ahead);
    if (is_session_state(word)) {
      rest = from;
      return since;
    }
    since.append(since.empty() ? "" : " ").append(word);
  }
  return std::nullopt;
}

/// The time of the last change: one word, or a date and a time; of a BGP row also in a time format
/// of the operator.
std::string take_since(const BirdProtocol& row, std::string_view& rest) {
  const bool bgp = row.proto == "BGP";
  if (bgp) {
    if (std::optional<std::string> since = since_before_state(rest)) return *std::move(since);
  }
  // A row that is down has no state there, so the whole text is the time.
  if (bgp && row.state == "down") return std::string(std::exchange(rest, {}));
  std::string_view ahead = rest;
  const std::string_view first = take_bird_word(ahead);
  std::string since(first);
  rest = ahead;
  if (!is_date(first)) return since;
  const std::string_view second = take_bird_word(ahead);
  if (!is_time(second)) return since;
  rest = ahead;
  return since.append(" ").append(second);
}

// Readers of the lines below a row. Each reads the value of its line; false when the value is
// malformed.

using Reads = bool (*)(BirdProtocol&, std::string_view value);

template <auto Member>
bool text(BirdProtocol& protocol, std::string_view value) {
  protocol.*Member = value;
  return true;
}

template <auto Member>
bool number(BirdProtocol& protocol, std::string_view value) {
  using Number = std::remove_reference_t<decltype(protocol.*Member)>::value_type;
  protocol.*Member = parse_number<Number>(value);
  return (protocol.*Member).has_value();
}

bool hold_timer(BirdProtocol& protocol, std::string_view value) {
  protocol.hold = read_bird_timer(value);
  return protocol.hold.has_value();
}

bool neighbor_restarts(BirdProtocol& protocol, std::string_view) {
  protocol.neighbor_restarts = true;
  return true;
}

bool channel(BirdProtocol& protocol, std::string_view value) {
  if (value.empty() || protocol.channels.size() == kMaxChannels) return false;
  protocol.channels.emplace_back().name = value;
  return true;
}

/// BIRD 1.6 has no line `Channel`.
BirdChannel& channel_of(BirdProtocol& protocol) {
  if (protocol.channels.empty()) protocol.channels.emplace_back();
  return protocol.channels.back();
}

template <auto Member>
bool channel_text(BirdProtocol& protocol, std::string_view value) {
  channel_of(protocol).*Member = value;
  return true;
}

/// `2 imported, 4 exported, 1 preferred`, with `filtered` where filtered routes are kept.
bool routes(BirdProtocol& protocol, std::string_view value) {
  struct Count {
    std::string_view word;
    std::uint64_t BirdRoutes::* into;
  };
  constexpr Count kCounts[] = {{"imported", &BirdRoutes::imported},
                               {"filtered", &BirdRoutes::filtered},
                               {"exported", &BirdRoutes::exported},
                               {"preferred", &BirdRoutes::preferred}};
  BirdRoutes read;
  while (!value.empty()) {
    std::string_view piece = take_until(value, ',');
    const auto count = parse_number<std::uint64_t>(take_bird_word(piece));
    const auto* const known = std::ranges::find(kCounts, piece, &Count::word);
    if (!count || known == std::ranges::end(kCounts)) return false;
    read.*known->into = *count;
  }
  channel_of(protocol).routes = read;
  return true;
}

/// Known lines that no judge needs.
bool passed_over(BirdProtocol&, std::string_view) {
  return true;
}

struct DetailLine {
  std::string_view key;  ///< the text before the colon, or the whole line
  Reads reads;
};

/// proto/bgp/bgp.c bgp_show_proto_info(), nest/proto.c proto_show_basic_info() and
/// channel_show_info(), BIRD 1.6 and 2.0.
constexpr auto kDetailLines = std::to_array<DetailLine>({
    {"Description", text<&BirdProtocol::description>},
    {"BGP state", text<&BirdProtocol::bgp_state>},
    {"Neighbor address", text<&BirdProtocol::neighbor_address>},
    {"Neighbor port", number<&BirdProtocol::neighbor_port>},
    {"Neighbor AS", number<&BirdProtocol::neighbor_as>},
    {"Local AS", number<&BirdProtocol::local_as>},
    {"Source address", text<&BirdProtocol::source_address>},
    {"Hold timer", hold_timer},
    {"Last error", text<&BirdProtocol::last_error>},
    {"Neighbor graceful restart active", neighbor_restarts},
    {"State", channel_text<&BirdChannel::state>},
    {"Table", channel_text<&BirdChannel::table>},
    {"GR recovery", channel_text<&BirdChannel::restart>},
    {"Routes", routes},
    {"4-octet AS numbers", passed_over},
    {"ADD-PATH", passed_over},
    {"AF announced", passed_over},
    {"AF preserved", passed_over},
    {"AF supported", passed_over},
    {"Action", passed_over},
    {"BGP Next hop", passed_over},
    {"Connect delay", passed_over},
    {"Created", passed_over},
    {"Enhanced refresh", passed_over},
    {"Error wait", passed_over},
    {"Export limit", passed_over},
    {"Export updates", passed_over},
    {"Export withdraws", passed_over},
    {"Extended message", passed_over},
    {"Extended next hop", passed_over},
    {"Graceful restart", passed_over},
    {"IGP IPv4 table", passed_over},
    {"IGP IPv6 table", passed_over},
    {"IPv6 nexthop", passed_over},
    {"Import limit", passed_over},
    {"Import updates", passed_over},
    {"Import withdraws", passed_over},
    {"Input filter", passed_over},
    {"Keepalive timer", passed_over},
    {"LL stale time", passed_over},
    {"LL stale timer", passed_over},
    {"Local capabilities", passed_over},
    {"Long-lived graceful restart", passed_over},
    {"Message", passed_over},
    {"Multiprotocol", passed_over},
    {"Neighbor GR", passed_over},
    {"Neighbor ID", passed_over},
    {"Neighbor capabilities", passed_over},
    {"Neighbor caps", passed_over},
    {"Neighbor range", passed_over},
    {"Output filter", passed_over},
    {"Preference", passed_over},
    {"RX", passed_over},
    {"Receive limit", passed_over},
    {"Restart recovery", passed_over},
    {"Restart time", passed_over},
    {"Restart timer", passed_over},
    {"Role", passed_over},
    {"Route change stats", passed_over},
    {"Route limit", passed_over},
    {"Route refresh", passed_over},
    {"Send hold timer", passed_over},
    {"Session", passed_over},
    {"TX", passed_over},
});

}  // namespace

Result<void> BirdProtocolsParser::read(const BirdLine& line) {
  if (const auto refusal = bird_refusal(line)) return std::unexpected(*refusal);
  ended_ = line.last;
  if (line.last != (line.code == kEnd))
    return fail(Errc::kProtocol, "show protocols: it ends with {:04}", line.code);
  if (line.last) return {};
  switch (line.code) {
    case kHeadings:
      if (headed_ || !line.head || !are_headings(line.text)) {
        return fail(Errc::kProtocol, "show protocols: unknown headings '{}'",
                    escape_control(line.text, kQuoted));
      }
      headed_ = true;
      break;
    case kRow: return read_row(line.text);
    case kDetail: read_detail(trim(line.text)); break;
    default: protocols_.unknown.add(line.text);
  }
  return {};
}

Result<void> BirdProtocolsParser::read_row(std::string_view text) {
  if (!headed_) return fail(Errc::kProtocol, "show protocols: a row before the headings");
  if (protocols_.protocols.size() == kMaxProtocols)
    return fail(Errc::kLimit, "more than {} protocols", kMaxProtocols);
  BirdProtocol row;
  std::string_view rest = text;
  row.name = take_bird_word(rest);
  row.proto = take_bird_word(rest);
  row.table = take_bird_word(rest);
  row.state = take_bird_word(rest);
  if (row.state.empty() || !is_utf8(text)) {
    return fail(Errc::kProtocol, "show protocols: '{}' is not a row",
                escape_control(text, kQuoted));
  }
  row.since = take_since(row, rest);
  row.info = rest;
  protocols_.protocols.push_back(std::move(row));
  return {};
}

void BirdProtocolsParser::read_detail(std::string_view text) {
  protocols_.detailed = true;
  if (text.empty()) return;
  std::string_view value = text;
  const bool is_channel = consume_prefix(value, "Channel ");
  std::string_view key = is_channel ? std::string_view() : take_until(value, ':');
  key = trim(key);
  value = trim(value);
  if (!protocols_.protocols.empty()) {
    BirdProtocol& protocol = protocols_.protocols.back();
    if (is_channel && channel(protocol, value)) return;
    const auto* const known = std::ranges::find(kDetailLines, key, &DetailLine::key);
    if (known != kDetailLines.end() && known->reads(protocol, value)) return;
  }
  protocols_.unknown.add(text);
}

Result<BirdProtocols> BirdProtocolsParser::take() {
  if (!ended_ || !headed_) return fail(Errc::kProtocol, "show protocols: no headings in it");
  headed_ = false;
  return std::exchange(protocols_, {});
}

Result<BirdProtocols> parse_bird_protocols(std::string_view reply) {
  return parse_bird_reply<BirdProtocolsParser>(reply);
}

}  // namespace wardmote::codec
