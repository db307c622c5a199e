#include "cli/render/etcd.h"

#include <algorithm>
#include <boost/json/value.hpp>
#include <cstdint>
#include <optional>
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

std::string number_in(const Fields& fields, std::string_view name) {
  const std::optional<std::int64_t> number = fields.number(name);
  return number ? fmt::format("{}", *number) : std::string();
}

std::string size_of(const Fields& facts) {
  const std::optional<std::int64_t> bytes = facts.number("db_bytes");
  return bytes ? fmt::format("{:.1f} MiB", static_cast<double>(*bytes) / (1 << 20)) : std::string();
}

/// `1.9 ms`, and why not where it cannot be known.
std::string fsync_of(const Fields& member) {
  const Fields metrics = member.object("metrics");
  const std::string reason = metrics.text("reason");
  if (!reason.empty()) return "unknown: " + reason;
  const std::optional<std::int64_t> us = metrics.number("wal_fsync_p99_us");
  return us ? fmt::format("{:.1f} ms", static_cast<double>(*us) / 1000) : std::string();
}

std::string role_of(const Fields& member) {
  const Fields facts = member.object("facts");
  if (facts.flag("learner")) return "learner";
  const std::string leader = facts.text("leader");
  if (leader.empty()) return {};
  return leader == facts.text("member_id") ? "leader" : "follower";
}

}  // namespace

std::string draw_etcd(const json::value& value, Style style) {
  const Fields cluster(value);
  const std::string verdict = cluster.text("verdict");
  const Cell said = verdict_word(verdict);
  const Fields quorum = cluster.object("quorum");
  const auto members = cluster.list("members");
  std::string drawn =
      fmt::format("{}  etcd cluster of {}  {}  {} of {} voters live\n",
                  paint(style, Tone::kStrong, cluster.text("etcd")),
                  counted(members.size(), "member"), paint(style, said.tone, said.text),
                  quorum.number("live").value_or(0), quorum.number("voters").value_or(0));
  const bool measured = std::ranges::any_of(
      members, [](const json::value& each) { return Fields(each).has("metrics"); });
  std::vector<std::string> headings = {"MEMBER", "ROLE", "TERM", "INDEX", "SIZE"};
  if (measured) headings.emplace_back("FSYNC P99");
  headings.insert(headings.end(), {"VERSION", "STATE", "REASON"});
  Table table(std::move(headings));
  for (const json::value& each : members) {
    const Fields member(each);
    const Fields facts = member.object("facts");
    const std::string outcome = member.text("outcome");
    std::vector<Cell> row = {{member.text("member"), Tone::kStrong},
                             {role_of(member)},
                             {number_in(facts, "term")},
                             {number_in(facts, "index")},
                             {size_of(facts)}};
    if (measured) row.push_back({fsync_of(member)});
    row.insert(
        row.end(),
        {{facts.text("version")}, {outcome, tone_of_outcome(outcome)}, {member.text("detail")}});
    table.add(std::move(row));
  }
  drawn += table.draw(style);
  drawn += draw_findings(cluster.list("findings"), style);
  return drawn + draw_observed(cluster.list("observed"), style);
}

}  // namespace wardmote::cli
