#include "cli/init/draft.h"

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <boost/json/value.hpp>

#include "base/format.h"
#include "base/text.h"
#include "cli/init/detect.h"
#include "codec/yaml_text.h"
#include "observe/kinds.h"

namespace wardmote::cli {
namespace {

constexpr std::string_view kHead =
    R"(# Written by wardmote init. Check it with: wardmote config check FILE
# All keys: wardmote config schema, and the configuration page of the documentation.

# Where the page, the API, /livez, /readyz and /metrics are served. Keep `listen` on loopback.
api: {listen: 127.0.0.1:9470, socket: /run/wardmote/api.sock}

# Who is told of incidents. Others: slack, teams, mail, pagerduty, alertmanager, ... (the notifications page).
notify: {receivers: [{name: log, log: {}}]}
)";

constexpr std::string_view kNothing = R"(
# Nothing was found that could be watched. For example:
#checks:
#  - {name: db-port, tcp: {address: 127.0.0.1:6641}, every: 5s}
)";

/// For a map on one line.
std::string quoted(const std::string& text) {
  std::string scalar = codec::yaml_text(boost::json::value(text));
  scalar.pop_back();
  return scalar;
}

const observe::ProbeKind* kind_of(const Found& found, std::span<const observe::ProbeKind> kinds) {
  const auto kind = std::ranges::find(kinds, found.kind, &observe::ProbeKind::name);
  if (kind == kinds.end()) return nullptr;
  const bool knows = std::ranges::all_of(found.params, [&](const Found::Param& param) {
    return std::ranges::find(kind->params, param.name, &observe::ParamSpec::name) !=
           kind->params.end();
  });
  return knows ? &*kind : nullptr;
}

std::string value_of(const Found& found, std::string_view name) {
  const auto param = std::ranges::find(found.params, name, &Found::Param::name);
  return param == found.params.end() ? "" : param->value;
}

/// What was found where, and what it answered.
std::string remark(const Found& found) {
  if (found.outcome.empty()) return escape_control(found.why);
  return fmt::format("{}: {}{}{}", escape_control(found.why), found.outcome,
                     found.said.empty() ? "" : ", ", found.said);
}

std::string expected_addresses(const Found& found) {
  if (found.raft_addresses.empty()) {
    return "      # The raft addresses that it should have, as cluster/status prints them:\n"
           "      #expect: [\"tcp:10.0.0.1:6643\", \"tcp:10.0.0.2:6643\", \"tcp:10.0.0.3:6643\"]\n";
  }
  std::vector<std::string> addresses;
  addresses.reserve(found.raft_addresses.size());
  for (const std::string& address : found.raft_addresses) {
    addresses.push_back(fmt::format("\"{}\"", escape_control(address)));
  }
  return fmt::format(
      "      # The servers that it has now, by cluster/status:\n      expect: [{}]\n",
      fmt::join(addresses, ", "));
}

std::string cluster_entry(const Found& found, std::string_view host) {
  const std::string socket = value_of(found, "ovsdb");
  std::string others;
  if (found.raft_addresses.size() != 1) {
    others =
        "        # The other members, so that what they say can be compared:\n"
        "        #- {name: ctl-2, ovsdb: \"tcp:10.0.0.2:6641\"}\n";
  }
  return fmt::format(
      "  # {}\n"
      "  - name: {}\n"
      "    ovn:\n"
      "      database: {}\n"
      "      members:\n"
      "        - {{name: {}, control: {}{}}}\n"
      "{}{}",
      remark(found), found.name, value_of(found, "database"), quoted(std::string(host)),
      quoted(value_of(found, "control")), socket.empty() ? "" : ", ovsdb: " + quoted(socket),
      others, expected_addresses(found));
}

std::string check_entry(const Found& found) {
  std::vector<std::string> params;
  params.reserve(found.params.size());
  for (const Found::Param& param : found.params)
    params.push_back(fmt::format("{}: {}", param.name, quoted(param.value)));
  return fmt::format("  # {}\n  - {{name: {}, {}: {{{}}}, every: 5s, timeout: 2s}}\n",
                     remark(found), found.name, found.kind, fmt::join(params, ", "));
}

}  // namespace

bool watches_anything(std::span<const Found> found, std::span<const observe::ProbeKind> kinds) {
  return std::ranges::any_of(found, [&](const Found& one) {
    return (one.kind == kClusterKind && !one.standalone) || kind_of(one, kinds) != nullptr;
  });
}

std::string draft_config(std::span<const Found> found, std::string_view host,
                         std::span<const observe::ProbeKind> kinds, bool has_data) {
  std::string clusters;
  std::string checks;
  std::string others;
  for (const Found& one : found) {
    if (one.standalone) {
      others += fmt::format("# {}: {} has no raft cluster ({})\n", one.name,
                            value_of(one, "database"), escape_control(one.why));
    } else if (one.kind == kClusterKind) {
      clusters += cluster_entry(one, host);
    } else if (kind_of(one, kinds) != nullptr) {
      checks += check_entry(one);
    } else {
      others += fmt::format("# {}: this version has no probe for it ({})\n", one.name,
                            escape_control(one.why));
    }
  }
  std::string draft(kHead);
  draft += fmt::format(
      "\n# Incidents, history, silences and the journal of repairs outlive the agent in this "
      "folder.\n{}{}data: {}\n",
      has_data ? "" : "# It is not there: create it for the user that the agent runs as.\n",
      has_data ? "" : "#", kDataFolder);
  if (!clusters.empty()) draft += "\nclusters:\n" + clusters;
  if (!checks.empty()) draft += "\nchecks:\n" + checks;
  if (!others.empty()) draft += "\n# Found besides:\n" + others;
  if (clusters.empty() && checks.empty()) return draft + std::string(kNothing);
  return draft +
         "\n# /readyz follows the gate `ready`; without one it is all of the above.\n"
         "#gates: {ready: {all: [...]}}\n";
}

}  // namespace wardmote::cli
