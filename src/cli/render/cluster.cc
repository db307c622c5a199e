#include "cli/render/cluster.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/time.h"
#include "cli/render/fields.h"
#include "cli/render/findings.h"
#include "cli/render/words.h"

namespace wardmote::cli {
namespace {

namespace json = boost::json;

constexpr std::size_t kShortId = 4;

/// Four digits, as OVSDB itself names a server.
std::string short_id(const Fields& owner, std::string_view name) { return owner.text(name).substr(0, kShortId); }

/// The member that leads in the highest term, for what only a leader knows of its followers; nothing when none does.
const json::value* leader_of(std::span<const json::value> members) {
  const json::value* leader = nullptr;
  for (const json::value& member : members) {
    if (Fields(member).raw("role") != "leader") continue;
    const auto term = [](const json::value& value) { return Fields(value).number("term").value_or(0); };
    if (leader == nullptr || term(member) > term(*leader)) leader = &member;
  }
  return leader;
}

/// What the leader says of the member: its line in the leader's server list.
Fields line_about(const json::value* leader, const Fields& member) {
  const std::string id = short_id(member, "server_id");
  if (leader == nullptr || id.empty()) return {};
  for (const json::value& server : Fields(*leader).list("servers")) {
    if (short_id(Fields(server), "id") == id) return Fields(server);
  }
  return {};
}

/// Whom the member takes for the leader.
std::string seen_leader(const Fields& member) {
  const std::string leader = member.text("leader");
  if (leader == "self") return short_id(member, "server_id");
  return leader == "unknown" ? "none" : leader;
}

std::string log_range(const Fields& member) {
  std::vector<std::int64_t> ends;
  for (const json::value& end : member.list("log")) {
    if (end.is_number()) ends.push_back(end.to_number<std::int64_t>());
  }
  return ends.size() == 2 ? fmt::format("[{},{}]", ends[0], ends[1]) : "";
}

/// Connections that are up, in both directions: `2/1`.
std::string peers(const Fields& member) {
  if (!member.has("connections")) return {};
  std::size_t outgoing = 0;
  std::size_t incoming = 0;
  for (const std::string& connection : member.texts("connections")) {
    if (connection.starts_with("->")) ++outgoing;
    if (connection.starts_with("<-")) ++incoming;
  }
  return fmt::format("{}/{}", outgoing, incoming);
}

std::string number_text(std::optional<std::int64_t> number) { return number ? fmt::format("{}", *number) : ""; }

std::string last_message(const Fields& line) {
  const std::optional<std::int64_t> ms = line.number("last_msg_ms");
  return ms ? format_duration(std::chrono::milliseconds(std::clamp<std::int64_t>(*ms, 0, INT32_MAX))) : "";
}

Cell member_verdict(const Fields& member) {
  const std::string outcome = member.text("outcome");
  const std::string reason = member.text("reason");
  return {reason.empty() ? outcome : fmt::format("{}: {}", outcome, reason), tone_of_outcome(outcome)};
}

std::vector<Cell> member_row(const json::value& value, const json::value* leader) {
  const Fields member(value);
  const Fields line = &value == leader ? Fields() : line_about(leader, member);
  const Tone role_tone = &value == leader ? Tone::kStrong : Tone::kPlain;
  return {{member.text("name"), Tone::kStrong},
          {member.text("address")},
          {seen_leader(member)},
          {member.text("role"), role_tone},
          {number_text(member.number("term"))},
          {log_range(member)},
          {number_text(line.number("match_index"))},
          {last_message(line)},
          {peers(member)},
          member_verdict(member)};
}

const std::vector<std::string>& headings() {
  static const std::vector<std::string> kHeadings = {"MEMBER", "ADDRESS", "SEES-LEADER", "ROLE",           "TERM",
                                                     "LOG",    "MATCH",   "LAST-MSG",    "PEERS(out/in)", "VERDICT"};
  return kHeadings;
}

/// Why the verdict is what it is, in a few words: `1 of 3 members disagrees`.
std::string why(const Fields& cluster) {
  std::size_t silent = 0;
  std::size_t disagreeing = 0;
  const std::span<const json::value> members = cluster.list("members");
  for (const json::value& member : members) {
    const Fields fields(member);
    if (fields.raw("outcome") == "ok") continue;
    ++(fields.has("role") ? disagreeing : silent);
  }
  const auto share = [&](std::size_t count, std::string_view one, std::string_view many) {
    return fmt::format("{} of {} {}", count, counted(members.size(), "member"), count == 1 ? one : many);
  };
  std::vector<std::string> parts;
  if (silent > 0) parts.push_back(share(silent, "does not answer", "do not answer"));
  if (disagreeing > 0) parts.push_back(share(disagreeing, "disagrees", "disagree"));
  const std::size_t findings = cluster.list("findings").size();
  if (parts.empty() && findings > 0) parts.push_back(counted(findings, "finding"));
  if (parts.empty()) parts.push_back(counted(members.size(), "member"));
  return fmt::format("{}", fmt::join(parts, ", "));
}

/// The cluster id that most members give.
std::string cluster_id(const Fields& cluster) {
  std::vector<std::pair<std::size_t, std::string>> votes;
  for (const json::value& member : cluster.list("members")) {
    const std::string id = short_id(Fields(member), "cluster_id");
    if (id.empty()) continue;
    const auto known = std::ranges::find(votes, id, &std::pair<std::size_t, std::string>::second);
    if (known == votes.end()) {
      votes.emplace_back(1, id);
    } else {
      ++known->first;
    }
  }
  return votes.empty() ? "unknown" : std::ranges::max(votes).second;
}

std::string title(const Fields& cluster, Style style) {
  const Cell verdict = verdict_word(cluster.raw("verdict"));
  return fmt::format("{}  {}  cluster {}  {}  {}\n", paint(style, Tone::kStrong, cluster.text("cluster")),
                     cluster.text("database"), cluster_id(cluster), paint(style, verdict.tone, verdict.text), why(cluster));
}

}  // namespace

std::string draw_members(std::span<const json::value> clusters, bool with_cluster, Style style) {
  std::vector<std::string> columns = headings();
  if (with_cluster) columns.insert(columns.begin(), "CLUSTER");
  Table table(std::move(columns));
  for (const json::value& cluster : clusters) {
    const Fields fields(cluster);
    const json::value* leader = leader_of(fields.list("members"));
    for (const json::value& member : fields.list("members")) {
      std::vector<Cell> row = member_row(member, leader);
      if (with_cluster) row.insert(row.begin(), Cell{fields.text("cluster")});
      table.add(std::move(row));
    }
  }
  return table.draw(style);
}

std::string draw_cluster(const json::value& cluster, Style style) {
  const Fields fields(cluster);
  std::string drawn = title(fields, style);
  drawn += draw_members({&cluster, 1}, false, style);
  drawn += draw_findings(fields.list("findings"), fields.raw("at"), style);
  return drawn;
}

}  // namespace wardmote::cli
