#include "cli/render/cluster.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/format.h"
#include "cli/render/fields.h"
#include "cli/render/findings.h"
#include "cli/render/style.h"
#include "cli/render/words.h"

namespace wardmote::cli {
namespace {

namespace json = boost::json;

constexpr std::size_t kShortId = 4;

/// Four digits, as OVSDB itself names a server.
std::string short_id(const Fields& owner, std::string_view name) {
  return owner.text(name).substr(0, kShortId);
}

/// The member of the same cluster that leads in the highest term; nothing when none does.
const json::value* leader_of(std::span<const json::value> members, std::string_view cluster) {
  const json::value* leader = nullptr;
  for (const json::value& member : members) {
    const Fields fields(member);
    if (fields.raw("role") != "leader" || fields.raw("cluster") != cluster) continue;
    if (leader == nullptr || fields.number("term") > Fields(*leader).number("term"))
      leader = &member;
  }
  return leader;
}

/// What only the leader knows about a member: its line in the leader's server list.
Fields line_about(const Fields& member, const json::value* leader) {
  const std::string id = short_id(member, "server_id");
  if (leader == nullptr || id.empty()) return {};
  for (const json::value& server : Fields(*leader).list("servers")) {
    const Fields line(server);
    if (!line.flag("self") && short_id(line, "id") == id) return line;
  }
  return {};
}

/// The server that the member names as leader.
std::string seen_leader(const Fields& member) {
  const std::string leader = member.text("leader");
  if (leader == "self") return short_id(member, "server_id");
  return leader == "unknown" ? "none" : leader;
}

std::string log_range(const Fields& member) {
  const std::span<const json::value> ends = member.list("log");
  if (ends.size() != 2) return {};
  const std::optional<std::int64_t> start = number_of(ends[0]);
  const std::optional<std::int64_t> next = number_of(ends[1]);
  return start && next ? fmt::format("[{},{}]", *start, *next) : "";
}

/// Connections that are up, in both directions: `2/1`.
std::string peers(const Fields& member) {
  if (!member.has("role")) return {};
  std::size_t outgoing = 0;
  std::size_t incoming = 0;
  for (const std::string& connection : member.texts("connections")) {
    if (connection.starts_with("->")) ++outgoing;
    if (connection.starts_with("<-")) ++incoming;
  }
  return fmt::format("{}/{}", outgoing, incoming);
}

std::string number_text(std::optional<std::int64_t> number) {
  return number ? fmt::format("{}", *number) : "";
}

Cell member_verdict(const Fields& member) {
  const std::string outcome = member.text("outcome");
  const std::string detail = member.text(member.has("detail") ? "detail" : "reason");
  return {detail.empty() ? outcome : fmt::format("{}: {}", outcome, detail),
          tone_of_outcome(outcome)};
}

std::vector<Cell> member_row(const Fields& member, const json::value* leader) {
  const Fields line = line_about(member, leader);
  const bool leads = member.raw("role") == "leader";
  return {{member.text("name"), Tone::kStrong},
          {member.text("address")},
          {seen_leader(member)},
          {member.text("role"), leads ? Tone::kStrong : Tone::kPlain},
          {number_text(member.number("term"))},
          {log_range(member)},
          {number_text(line.number("match_index"))},
          {duration_text(line.number("last_msg_ms"))},
          {peers(member)},
          member_verdict(member)};
}

/// Why the verdict is what it is, in a few words: `1 of 3 members disagrees`.
std::string why(const Fields& cluster) {
  std::size_t silent = 0;
  std::size_t disagreeing = 0;
  std::size_t closed_to_us = 0;
  std::string why_closed;
  const std::span<const json::value> members = cluster.list("members");
  for (const json::value& member : members) {
    const Fields fields(member);
    if (fields.raw("outcome") == "ok") continue;
    const std::string reason = fields.text("reason");
    if (!speaks(fields) && (reason == "denied" || reason == "untrusted")) {
      ++closed_to_us;
      why_closed = reason;
      continue;
    }
    ++(speaks(fields) ? disagreeing : silent);
  }
  const auto share = [&](std::size_t count, std::string_view one, std::string_view many) {
    return fmt::format("{} of {} {}", count, counted(members.size(), "member"),
                       count == 1 ? one : many);
  };
  std::vector<std::string> parts;
  if (silent > 0) parts.push_back(share(silent, "does not answer", "do not answer"));
  if (closed_to_us > 0) {
    parts.push_back(share(closed_to_us, "cannot be asked", "cannot be asked"));
    parts.back() += fmt::format(" ({})", why_closed);
  }
  if (disagreeing > 0) parts.push_back(share(disagreeing, "disagrees", "disagree"));
  const std::size_t findings = cluster.list("findings").size();
  if (parts.empty() && findings > 0) parts.push_back(counted(findings, "finding"));
  if (parts.empty()) parts.push_back(counted(members.size(), "member"));
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string title(const Fields& cluster, Style style) {
  const Cell verdict = verdict_word(cluster.raw("verdict"));
  const std::string id = short_id(cluster, "cluster_id");
  const bool named = cluster.raw("cluster") != cluster.raw("database");
  return fmt::format("{}{}  cluster {}  {}  {}\n",
                     paint(style, Tone::kStrong, cluster.text("cluster")),
                     named ? "  " + cluster.text("database") : "", id.empty() ? "unknown" : id,
                     paint(style, verdict.tone, verdict.text), why(cluster));
}

}  // namespace

bool speaks(const Fields& member) {
  return member.has("role") || member.has("connected");
}

std::string draw_members(std::span<const json::value> members, Style style) {
  std::vector<std::string> headings = {"MEMBER",        "ADDRESS", "SEES-LEADER", "ROLE",
                                       "TERM",          "LOG",     "MATCH",       "LAST-MSG",
                                       "PEERS(out/in)", "VERDICT"};
  const bool with_cluster = !members.empty() && Fields(members.front()).has("cluster");
  if (with_cluster) headings.insert(headings.begin(), "CLUSTER");
  if (style.wide)
    headings.insert(headings.end() - 1, {"SERVER-ID", "VOTE", "UNCOMMITTED", "UNAPPLIED", "TIMER"});
  Table table(std::move(headings));
  for (const json::value& value : members) {
    const Fields member(value);
    std::vector<Cell> row = member_row(member, leader_of(members, member.raw("cluster")));
    if (with_cluster) row.insert(row.begin(), Cell{member.text("cluster")});
    if (style.wide) {
      row.insert(row.end() - 1, {{member.text("server_id")},
                                 {member.text("vote")},
                                 {number_text(member.number("uncommitted"))},
                                 {number_text(member.number("unapplied"))},
                                 {duration_text(member.number("election_timer_ms"))}});
    }
    table.add(std::move(row));
  }
  return table.draw(style);
}

std::string draw_cluster_head(const json::value& cluster, Style style) {
  const Fields fields(cluster);
  return title(fields, style) + draw_members(fields.list("members"), style);
}

std::string draw_cluster(const json::value& cluster, Style style) {
  const Fields fields(cluster);
  return draw_cluster_head(cluster, style) + draw_findings(fields.list("findings"), style) +
         draw_observed(fields.list("observed"), style);
}

}  // namespace wardmote::cli
