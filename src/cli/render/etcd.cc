#include "cli/render/etcd.h"

#include <boost/json/value.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

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
  std::string drawn = fmt::format(
      "{}  etcd cluster of {}  {}  {} of {} voters live\n",
      paint(style, Tone::kStrong, cluster.text("etcd")),
      counted(cluster.list("members").size(), "member"), paint(style, said.tone, said.text),
      quorum.number("live").value_or(0), quorum.number("voters").value_or(0));
  Table table({"MEMBER", "ROLE", "TERM", "INDEX", "SIZE", "VERSION", "STATE", "REASON"});
  for (const json::value& each : cluster.list("members")) {
    const Fields member(each);
    const Fields facts = member.object("facts");
    const std::string outcome = member.text("outcome");
    table.add({{member.text("member"), Tone::kStrong},
               {role_of(member)},
               {number_in(facts, "term")},
               {number_in(facts, "index")},
               {size_of(facts)},
               {facts.text("version")},
               {outcome, tone_of_outcome(outcome)},
               {member.text("detail")}});
  }
  drawn += table.draw(style);
  drawn += draw_findings(cluster.list("findings"), style);
  return drawn + draw_observed(cluster.list("observed"), style);
}

}  // namespace wardmote::cli
