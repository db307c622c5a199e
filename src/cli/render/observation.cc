#include "cli/render/observation.h"

#include <boost/json/serialize.hpp>
#include <cstdint>
#include <optional>
#include <string>

#include "base/format.h"
#include "base/text.h"
#include "cli/render/bgp.h"
#include "cli/render/cluster.h"
#include "cli/render/fields.h"
#include "cli/render/style.h"
#include "cli/render/words.h"

namespace wardmote::cli {
namespace {

namespace json = boost::json;

std::string title(const Fields& observation, Style style) {
  const std::string outcome = observation.text("outcome");
  const std::string detail = observation.text(observation.has("detail") ? "detail" : "reason");
  const double took_ms = static_cast<double>(observation.number("took_us").value_or(0)) / 1000;
  const std::string subject = observation.text("subject");
  return fmt::format("{}  {}{}{}  ({:.1f} ms)\n", paint(style, tone_of_outcome(outcome), outcome),
                     observation.text("kind"), subject.empty() ? "" : " " + subject,
                     detail.empty() ? "" : ": " + detail, took_ms);
}

std::string draw_servers(const Fields& member, Style style) {
  Table table({"SERVER", "ID", "ADDRESS", "PHASE", "NEXT", "MATCH", "LAST-MSG"});
  const auto number = [](std::optional<std::int64_t> value) {
    return value ? fmt::format("{}", *value) : "";
  };
  for (const json::value& value : member.list("servers")) {
    const Fields server(value);
    table.add({{server.text("nickname") + (server.flag("self") ? " (self)" : ""), Tone::kStrong},
               {server.text("id")},
               {server.text("address")},
               {server.text("phase")},
               {number(server.number("next_index"))},
               {number(server.number("match_index"))},
               {duration_text(server.number("last_msg_ms"))}});
  }
  return table.empty() ? "" : "\n" + table.draw(style);
}

/// Facts without a table of their own, one line each.
std::string draw_plainly(const json::value& facts) {
  std::string drawn;
  if (const json::object* object = facts.if_object()) {
    for (const auto& [name, value] : *object) {
      drawn +=
          fmt::format("  {}: {}\n", escape_control(name), escape_control(json::serialize(value)));
    }
  }
  return drawn;
}

}  // namespace

std::string draw_observation(const json::value& value, Style style) {
  const Fields observation(value);
  std::string drawn = title(observation, style);
  const Fields facts = observation.object("facts");
  if (!observation.has("facts")) return drawn;
  if (facts.has("peers")) return drawn + draw_bgp(facts, style);
  if (!facts.has("servers")) return drawn + draw_plainly(value.as_object().at("facts"));
  if (!speaks(facts)) return drawn;
  drawn += draw_members({&value.as_object().at("facts"), 1}, style);
  return drawn + draw_servers(facts, style);
}

}  // namespace wardmote::cli
