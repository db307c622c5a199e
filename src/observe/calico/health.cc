#include "observe/calico/health.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/result.h"
#include "base/text.h"
#include "base/time.h"
#include "codec/calico_table.h"
#include "judge/bgp/facts.h"
#include "judge/bgp/hint.h"
#include "judge/bgp/policy.h"
#include "judge/judgement.h"
#include "judge/outcome.h"
#include "judge/service/service.h"
#include "observe/bird/bird_probe.h"
#include "observe/bird/calico_query.h"
#include "observe/bird/client.h"
#include "observe/bird/convert.h"
#include "observe/calico/felix.h"
#include "observe/calico/texts.h"
#include "observe/reason.h"
#include "observe/service/status_file.h"
#include "runtime/deadline.h"
#include "runtime/endpoint.h"
#include "runtime/files.h"
#include "runtime/runtime.h"
#include "runtime/task.h"

namespace wardmote::observe::calico {

using bird::CalicoReading;
using codec::CalicoTable;
using judge::Outcome;
using judge::bgp::BgpFacts;
using judge::bgp::Session;
using runtime::Deadline;
using runtime::Endpoint;
using runtime::Runtime;
using runtime::Task;
using Verdict = HealthResult::Verdict;

namespace {

constexpr auto kChecks = std::to_array<std::pair<Check, std::string_view>>({
    {Check::kFelixLive, "felix-live"},
    {Check::kBirdLive, "bird-live"},
    {Check::kBird6Live, "bird6-live"},
    {Check::kFelixReady, "felix-ready"},
    {Check::kBirdReady, "bird-ready"},
    {Check::kBird6Ready, "bird6-ready"},
});

bool is_own(const HealthPlan& plan) noexcept {
  return plan.release == Release::kOwn;
}

HealthResult bad(const HealthPlan& plan, Check check, std::string_view text,
                 Verdict verdict = Verdict::kBad) {
  return {verdict, in_words_of(plan.release, std::string(prefix_of(check)).append(text)), {}};
}

Task<HealthResult> check_felix(Runtime* runtime, const HealthPlan* plan, Check check,
                               Deadline deadline) {
  const std::string path = check == Check::kFelixLive ? "liveness" : "readiness";
  FelixTarget target = plan->felix;
  target.as_go = !is_own(*plan);
  // The only check of Calico that uses the threshold.
  if (target.as_go) deadline.at = std::min(deadline.at, runtime->now() + plan->threshold);
  const Result<int> status = co_await felix_status(runtime, target, path, deadline);
  if (!status) {
    if (is_own(*plan)) co_return bad(*plan, check, status.error().describe());
    co_return bad(*plan, check, go_http_error(target, path, status.error()));
  }
  if (*status < 200 || *status >= 400)
    co_return bad(*plan, check, fmt::format("{} probe reporting {}", path, *status));
  HealthResult good;
  if (*status >= 300)
    good.details.push_back(fmt::format("{} answers {} and is taken for good", path, *status));
  co_return good;
}

/// Why a service that `sv status` calls `run` does not work: it is paused, or it is being stopped.
/// Empty otherwise.
std::string why_stopped(Runtime& runtime, const std::string& folder) {
  service::StatusFiles status(judge::Supervisor::kRunit, folder);
  const Result<service::StatusRead> read = status.read(runtime.files(), runtime.wall_now());
  if (!read) return {};
  const judge::ServicePolicy policy{.min_uptime = Duration::zero()};
  const judge::Judgement judgement = judge_service(read->facts, policy, Duration::zero());
  return judgement.outcome == Outcome::kFail ? judgement.reason.text : std::string();
}

/// The daemons as runit sees them, in the words of `sv status`.
std::optional<HealthResult> check_services(Runtime& runtime, const HealthPlan& plan, Check check) {
  const bool v6 = check == Check::kBird6Live;
  for (const std::string_view service :
       {std::string_view("confd"), std::string_view(v6 ? "bird6" : "bird")}) {
    const std::string folder = fmt::format("{}/etc/service/enabled/{}", plan.root, service);
    const service::SvAnswer answer =
        service::sv_status(runtime.files(), "", folder, runtime.wall_now());
    const std::string shown = escape_control(trim(answer.text));
    const bool runs = answer.text.starts_with("run");
    // A logger that does not run does not stop the daemon.
    if (answer.exit != 0 && !(runs && is_own(plan))) {
      return bad(plan, check, is_own(plan) ? shown : fmt::format("exit status {}", answer.exit));
    }
    if (!runs) {
      return bad(plan, check,
                 fmt::format("service {} is not running. Output << {} >>", service, shown));
    }
    const std::string stopped = is_own(plan) ? why_stopped(runtime, folder) : std::string();
    if (!stopped.empty()) return bad(plan, check, fmt::format("service {}: {}", service, stopped));
  }
  return std::nullopt;
}

std::vector<Endpoint> calicos_socket(const HealthPlan& plan, bool v6) {
  return {Endpoint::unix_socket(
      fmt::format("{}/var/run/calico/{}", plan.root, v6 ? "bird6.ctl" : "bird.ctl"))};
}

std::vector<Endpoint> all_sockets(const HealthPlan& plan, bool v6) {
  std::vector<Endpoint> sockets = bird::default_sockets(v6);
  for (Endpoint& socket : sockets) socket.path.insert(0, plan.root);
  return sockets;
}

Task<HealthResult> check_bird_live(Runtime* runtime, const HealthPlan* plan, Check check,
                                   Deadline deadline) {
  std::optional<HealthResult> failed = check_services(*runtime, *plan, check);
  if (failed) co_return *std::move(failed);
  // before Calico would have asked birdcl
  if (plan->release == Release::kCalico322) co_return HealthResult{};
  const bool v6 = check == Check::kBird6Live;
  const std::string_view daemon = v6 ? "bird6" : "bird";
  bird::Client client(*runtime, is_own(*plan) ? all_sockets(*plan, v6) : calicos_socket(*plan, v6),
                      {.fresh_every = 1, .detailed = false, .limits = {}});
  const Result<bird::Snapshot> snapshot = co_await client.look(deadline);
  if (snapshot) co_return HealthResult{};
  HealthResult result;
  result.verdict = Verdict::kBad;
  if (is_own(*plan)) {
    result.text = fmt::format("calico/node is not ready: {} is not live: {}", daemon,
                              snapshot.error().describe());
  } else if (snapshot.error().code == Errc::kProtocol) {
    result.text = fmt::format("calico/node is not ready: bad response from {}: {}", daemon,
                              snapshot.error().context);
  } else {
    result.text = fmt::format("calico/node is not ready: {} is not live: exit status 1", daemon);
  }
  co_return result;
}

std::string detail_of(const Session& session) {
  std::string line = fmt::format("{}: {}", escape_control(session.label(), 120),
                                 session.admin_down ? "disabled" : to_string(session.state));
  if (session.in_state) line += " for " + format_duration(*session.in_state);
  if (!session.last_error.empty())
    line += ", last error " + escape_control(session.last_error, 120);
  if (const std::string_view meaning = hint(session); !meaning.empty())
    line.append(" (").append(meaning).append(")");
  return line;
}

std::vector<std::string> details_of(const BgpFacts& facts, const judge::bgp::Policy& policy,
                                    const judge::bgp::Verdict& verdict) {
  std::vector<std::string> details;
  if (verdict.outcome == Outcome::kWarn) details.push_back("warning: " + verdict.reason.text);
  for (const Session& session : facts.sessions) {
    if (judge::bgp::counts(session, policy) && !session.established())
      details.push_back(detail_of(session));
  }
  if (facts.restart && facts.restart->left && facts.restart->total) {
    details.push_back(fmt::format("graceful restart: {} of {} left",
                                  to_ms(*facts.restart->left) / 1000,
                                  to_ms(*facts.restart->total) / 1000));
  }
  return details;
}

/// By our own policy; `age` is that of the nodename file.
Task<HealthResult> check_bird_ready(Runtime* runtime, const HealthPlan* plan, Check check,
                                    Duration age, Deadline deadline) {
  const bool v6 = check == Check::kBird6Ready;
  bird::Client client(*runtime, all_sockets(*plan, v6),
                      {.fresh_every = 1, .detailed = true, .limits = {}});
  Result<bird::Snapshot> snapshot = co_await client.look(deadline);
  if (!snapshot) {
    const bool unknown = outcome_of(reason_of(snapshot.error()).code) == Outcome::kUnknown;
    co_return bad(*plan, check, snapshot.error().describe(),
                  unknown ? Verdict::kUnknown : Verdict::kBad);
  }
  const BgpFacts facts =
      bird::to_facts(std::move(snapshot->status), std::move(snapshot->protocols));
  judge::bgp::Policy policy = plan->policy;
  policy.window = plan->threshold;
  policy.family = v6 ? "ipv6" : "ipv4";
  const judge::bgp::Verdict verdict = judge::bgp::judge(facts, policy, age);
  HealthResult result;
  if (verdict.outcome == Outcome::kFail) result = bad(*plan, check, verdict.reason.text);
  result.details = details_of(facts, policy, verdict);
  if (age < Duration::zero())
    result.details.emplace_back(
        "warning: the nodename file was written in the future, and is taken for old");
  co_return result;
}

/// The steps of Calico's checkBIRDReady().
Task<HealthResult> check_bird_ready_as_calico(Runtime* runtime, const HealthPlan* plan, Check check,
                                              Duration age, Deadline deadline) {
  const bool v6 = check == Check::kBird6Ready;
  const std::string folder = plan->root + "/var/run";
  const CalicoReading table =
      co_await bird::calico_query(runtime, folder, CalicoTable::Query::kPeers, v6, deadline);
  if (table.panics) co_return bad(*plan, check, table.error, Verdict::kPanic);
  if (!table.error.empty()) co_return bad(*plan, check, table.error);
  std::string down;
  for (const codec::CalicoPeer& peer : table.peers) {
    if (peer.bgp_state != "Established")
      down.append(down.empty() ? "" : ",").append(escape_control(peer.ip, 120));
  }
  const bool any = std::ranges::any_of(
      table.peers, [](const codec::CalicoPeer& peer) { return peer.bgp_state == "Established"; });
  if (table.peers.empty()) co_return HealthResult{};
  if (age < plan->threshold) {
    if (!down.empty()) co_return bad(*plan, check, "BGP not established with " + down);
    const CalicoReading restart =
        co_await bird::calico_query(runtime, folder, CalicoTable::Query::kRestart, v6, deadline);
    if (restart.panics) co_return bad(*plan, check, restart.error, Verdict::kPanic);
    if (!restart.error.empty()) co_return bad(*plan, check, restart.error);
    if (restart.restarting) co_return bad(*plan, check, "graceful restart in progress");
    co_return HealthResult{};
  }
  if (!any) co_return bad(*plan, check, "BGP not established with " + down);
  co_return HealthResult{};
}

Task<HealthResult> check_ready(Runtime* runtime, const HealthPlan* plan, Check check,
                               Deadline deadline) {
  const std::string nodename = plan->root + "/var/lib/calico/nodename";
  const Result<runtime::FileInfo> info = runtime->files().info(nodename);
  if (!info) {
    const std::string_view why = info.error().code == Errc::kDenied    ? "permission denied"
                                 : info.error().code == Errc::kMissing ? "no such file or directory"
                                                                       : "cannot be looked at";
    co_return bad(*plan, check,
                  fmt::format("failed to stat() nodename file: stat {}: {}", nodename, why));
  }
  const Duration age = runtime->wall_now() - info->modified;
  HealthResult result;
  if (is_own(*plan)) {
    result = co_await check_bird_ready(runtime, plan, check, age, deadline);
  } else {
    result = co_await check_bird_ready_as_calico(runtime, plan, check, age, deadline);
  }
  co_return result;
}

}  // namespace

std::optional<Release> parse_release(std::string_view word) noexcept {
  if (word == "calico-3.22") return Release::kCalico322;
  if (word == "calico-3.30") return Release::kCalico330;
  if (word == "head") return Release::kHead;
  return std::nullopt;
}

std::string_view to_string(Check check) noexcept {
  const auto* const known =
      std::ranges::find(kChecks, check, &std::pair<Check, std::string_view>::first);
  return known == kChecks.end() ? "" : known->second;
}

judge::bgp::Policy own_policy() {
  judge::bgp::Policy policy = judge::bgp::calico_policy();
  policy.partial = judge::bgp::Treat::kWarn;
  policy.disabled = judge::bgp::Treat::kWarn;
  return policy;
}

Task<HealthResult> check_health(Runtime* runtime, const HealthPlan* plan, Check check,
                                Deadline deadline) {
  switch (check) {
    case Check::kFelixLive:
    case Check::kFelixReady: return check_felix(runtime, plan, check, deadline);
    case Check::kBirdLive:
    case Check::kBird6Live: return check_bird_live(runtime, plan, check, deadline);
    case Check::kBirdReady:
    case Check::kBird6Ready: return check_ready(runtime, plan, check, deadline);
  }
  return check_felix(runtime, plan, check, deadline);
}

}  // namespace wardmote::observe::calico
