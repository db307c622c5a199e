#include "cli/init/ask.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/format.h"
#include "base/result.h"
#include "base/text.h"
#include "base/time.h"
#include "cli/init/detect.h"
#include "judge/bgp/facts.h"
#include "judge/observation.h"
#include "judge/outcome.h"
#include "judge/raft/opinion.h"
#include "observe/kinds.h"
#include "observe/probe.h"
#include "runtime/deadline.h"
#include "runtime/runtime.h"
#include "runtime/task.h"

namespace wardmote::cli {
namespace {

using runtime::Deadline;
using runtime::Task;

constexpr Duration kPatience = std::chrono::seconds(2);
constexpr std::string_view kUnix = "unix:";

/// `/run/x` and `unix:/run/x` of the machine whose file system is mounted there.
std::string below(const std::string& root, const std::string& value) {
  if (root == "/") return value;
  if (value.starts_with('/')) return root + value;
  if (value.starts_with(kUnix) && value.substr(kUnix.size()).starts_with('/'))
    return std::string(kUnix) + root + value.substr(kUnix.size());
  return value;
}

const observe::ProbeKind* probe_of(const Found& found) {
  return observe::find_kind(found.kind == kClusterKind ? "ovn" : found.kind);
}

/// All that init finds are texts.
observe::Params params_of(const Found& found, const std::string& root) {
  observe::Params params;
  for (const Found::Param& param : found.params) params[param.name] = below(root, param.value);
  return params;
}

std::string told(const judge::raft::Opinion& opinion, Found& found) {
  if (opinion.mode == judge::raft::Mode::kStandalone) {
    found.standalone = true;
    return "a database without a cluster";
  }
  if (!opinion.status) return {};
  for (const judge::raft::Server& server : opinion.status->servers)
    found.raft_addresses.push_back(server.address);
  std::ranges::sort(found.raft_addresses);
  return fmt::format("a cluster of {} servers, this one is {}, term {}",
                     opinion.status->servers.size(), to_string(opinion.status->role),
                     opinion.status->term);
}

std::string told(const judge::bgp::BgpFacts& facts) {
  std::vector<std::string> down;
  for (const judge::bgp::Session& session : facts.sessions) {
    if (!session.established())
      down.push_back(fmt::format("{} is {}", session.label(), to_string(session.state)));
  }
  const std::size_t up = facts.sessions.size() - down.size();
  std::string text = fmt::format("{}: {} of {} BGP sessions are Established", facts.version, up,
                                 facts.sessions.size());
  if (!down.empty()) text += fmt::format("; {}", fmt::join(down, ", "));
  return text;
}

void take(const judge::Observation& seen, Found& found) {
  found.outcome = to_string(seen.outcome);
  std::string text;
  if (const auto* const opinion = std::get_if<judge::raft::Opinion>(&seen.facts))
    text = told(*opinion, found);
  if (const auto* const facts = std::get_if<judge::bgp::BgpFacts>(&seen.facts)) text = told(*facts);
  if (text.empty()) text = seen.reason.text;
  found.said = escape_control(text, 256);
}

}  // namespace

Task<void> ask_found(std::vector<Found>* found, std::string root, runtime::Runtime* runtime,
                     Deadline deadline) {
  for (Found& one : *found) {
    const observe::ProbeKind* const kind = probe_of(one);
    if (kind == nullptr || kind->make == nullptr) continue;
    if (runtime->now() >= deadline.at) co_return;
    const auto probe = kind->make(*runtime, one.name, params_of(one, root));
    if (!probe) {
      one.said = escape_control(probe.error().context, 256);
      continue;
    }
    const Deadline mine{std::min(deadline.at, runtime->now() + kPatience)};
    const judge::Observation seen = co_await (*probe)->look(mine);
    take(seen, one);
  }
}

}  // namespace wardmote::cli
