#include "cli/render/bgp.h"

#include <boost/json/value.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "base/format.h"
#include "cli/render/fields.h"
#include "cli/render/style.h"
#include "cli/render/words.h"

namespace wardmote::cli {
namespace {

std::string number_text(std::optional<std::int64_t> number) {
  return number ? fmt::format("{}", *number) : "";
}

Cell state_cell(const Fields& peer) {
  std::string state = peer.text("state");
  const bool established = state == "Established";
  if (peer.flag("admin_down")) state = "disabled";
  if (peer.flag("restarting")) state += " (restarting)";
  if (established) return {std::move(state), Tone::kGood};
  return {std::move(state), peer.flag("admin_down") ? Tone::kFaint : Tone::kCritical};
}

std::string routes_text(const Fields& peer) {
  const auto imported = peer.number("imported");
  const auto exported = peer.number("exported");
  if (!imported || !exported) return "";
  return fmt::format("{} in, {} out", *imported, *exported);
}

std::string draw_head(const Fields& facts) {
  std::string head = fmt::format("  {}", facts.text("version"));
  if (facts.has("router_id")) head += ", router id " + facts.text("router_id");
  if (const auto up = facts.number("up_ms")) head += ", up " + duration_text(up);
  if (facts.flag("shutting_down")) head += ", shutting down";
  if (facts.flag("reconfiguring")) head += ", reconfiguring";
  if (facts.has("graceful_restart")) {
    const Fields restart = facts.object("graceful_restart");
    head += ", graceful restart";
    if (restart.has("left_ms"))
      head += fmt::format(" ({} of {} left)", duration_text(restart.number("left_ms")),
                          duration_text(restart.number("total_ms")));
  }
  return head + "\n";
}

}  // namespace

std::string draw_bgp(const Fields& facts, Style style) {
  Table table({"PEER", "ADDRESS", "AS", "STATE", "FOR", "ROUTES", "FLAPS", "LAST ERROR"});
  for (const boost::json::value& value : facts.list("peers")) {
    const Fields peer(value);
    table.add({{peer.text("name"), Tone::kStrong},
               {peer.text("address")},
               {number_text(peer.number("remote_as"))},
               state_cell(peer),
               {duration_text(peer.number("in_state_ms"))},
               {routes_text(peer)},
               {number_text(peer.number("flaps"))},
               {peer.text("last_error")}});
  }
  return draw_head(facts) + (table.empty() ? "" : table.draw(style));
}

}  // namespace wardmote::cli
