#include "cli/gate/gate_line.h"

#include <boost/json/value.hpp>
#include <cstdint>
#include <optional>
#include <string>

#include "base/format.h"
#include "cli/render/fields.h"

namespace wardmote::cli {

namespace json = boost::json;

namespace {

/// After so long what is shown is old.
constexpr std::int64_t kOldMs = 10'000;

}  // namespace

bool is_ready(const json::value& gate) {
  // A verdict that this program does not know is no yes.
  return Fields(gate).flag("ready") && Fields(gate).raw("verdict") == "ready";
}

bool is_heard(const json::value& gate) {
  const std::optional<std::int64_t> age = Fields(gate).number("age_ms");
  return age && *age <= kOldMs;
}

bool is_settled(const json::value& gate) {
  return is_heard(gate) && Fields(gate).flag("registered") &&
         Fields(gate).raw("verdict") != "unread";
}

std::string gate_line(const json::value& gate) {
  const Fields fields(gate);
  std::string line = fields.text("name") + ": ";
  if (is_ready(gate) && !is_heard(gate)) {
    line += "waiting: the store does not answer; this node was ready when it did";
  } else if (is_ready(gate)) {
    const Fields before = fields.object("before_set_back");
    const Fields status = before.flag("alone") ? before : fields.object("status");
    line += fmt::format("ready: release {} on a state of {}, which needs {} or newer",
                        fields.text("release"), status.text("version"), status.text("minimum"));
  } else {
    line += "waiting: " + fields.text("why");
    if (const std::string how = fields.text("unblocks"); !how.empty()) line += "; until " + how;
  }
  if (const std::string complaint = fields.text("complaint"); !complaint.empty())
    line += fmt::format(" ({})", complaint);
  return line;
}

}  // namespace wardmote::cli
