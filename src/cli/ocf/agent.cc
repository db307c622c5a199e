#include "cli/ocf/agent.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <ios>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "act/failover/replica.h"
#include "base/format.h"
#include "base/result.h"
#include "base/text.h"
#include "base/time.h"
#include "cli/ocf/code.h"
#include "cli/ocf/host.h"
#include "cli/ocf/notification.h"
#include "cli/ocf/parameters.h"
#include "cli/ocf/state_file.h"
#include "cli/output.h"
#include "judge/failover/candidate.h"
#include "runtime/deadline.h"
#include "runtime/runtime.h"

namespace wardmote::cli::ocf {

using judge::failover::ClusterRecord;
using runtime::Task;
using Life = act::failover::ReplicaState::Life;
using namespace std::chrono_literals;

namespace {

/// Pacemaker kills the agent at the timeout; before that the agent says why it is not done.
Duration own_time(Duration timeout) {
  return timeout - std::min<Duration>(timeout / 10, 2s);
}

constexpr Duration kNextLook = 50ms;

bool lost(Life life) noexcept {
  return life == Life::kHung || life == Life::kNoDoor;
}

/// ovn-ctl starts nothing while the number in the pid file belongs to any process of that name, a
/// dead one that nobody has reaped included; and it ends that process, whosoever it is.
void forget_pid_file(const act::failover::Replica& replica) {
  const auto process = replica.process();
  std::ifstream file(replica.files().pid);
  std::uint32_t pid = 0;
  if (process && file >> pid && pid == process->pid) return;
  std::error_code ignored;
  std::filesystem::remove(replica.files().pid, ignored);
}

}  // namespace

Agent::Agent(runtime::Runtime& runtime, Parameters parameters, Notification notification)
    : runtime_(runtime),
      parameters_(std::move(parameters)),
      notification_(std::move(notification)),
      deadline_(runtime.deadline_in(own_time(parameters_.timeout))),
      cluster_(runtime, parameters_),
      state_(load_state(parameters_)),
      nb_(runtime, nb_files(parameters_)),
      sb_(runtime, sb_files(parameters_)) {}

void Agent::reason(std::string_view text) {
  log("ERROR", text);
  last_reason_ = escape_control(text, 1024);
  print_error(fmt::format("ocf-exit-reason:{}\n", escape_control(text, 1024)));
}

void Agent::report_result(std::string_view action, Code code) const {
  const bool promoted = code == Code::kPromoted || (action == "promote" && code == Code::kSuccess);
  const bool good = code == Code::kSuccess || promoted;
  const bool degraded = code == Code::kDegraded || code == Code::kDegradedPromoted;
  const bool live = (good || degraded) && action != "stop";
  std::string detail = !last_reason_.empty() ? last_reason_
                       : action == "stop"    ? "stopped"
                       : promoted            ? fmt::format("active, epoch {}", state_.epoch)
                       : good                ? "backup"
                                             : "not running";
  report(parameters_, live, good && live, detail);
}

void Agent::log(std::string_view level, std::string_view text) const {
  const std::string line =
      fmt::format("{}({})[{}]: {} {}: {}\n", "ovndb-servers", parameters_.instance, ::getpid(),
                  format_utc(runtime_.wall_now()), level, escape_control(text, 2048));
  if (parameters_.log_file.empty()) {
    print_error(line);
    return;
  }
  std::ofstream file(parameters_.log_file, std::ios::app);
  file << line;
  file.flush();
  if (!file) print_error(line);
}

std::vector<std::string> Agent::start_arguments() const {
  const Parameters& p = parameters_;
  std::vector<std::string> arguments;
  const auto add = [&](std::string_view name, std::string_view value) {
    arguments.push_back(fmt::format("--{}={}", name, value));
  };
  add("db-nb-port", p.nb.port);
  add("db-sb-port", p.sb.port);
  if (p.nb.protocol == "ssl") {
    add("ovn-nb-db-ssl-key", p.nb.key);
    add("ovn-nb-db-ssl-cert", p.nb.certificate);
    add("ovn-nb-db-ssl-ca-cert", p.nb.ca);
  }
  if (p.sb.protocol == "ssl") {
    add("ovn-sb-db-ssl-key", p.sb.key);
    add("ovn-sb-db-ssl-cert", p.sb.certificate);
    add("ovn-sb-db-ssl-ca-cert", p.sb.ca);
  }
  // Who follows nobody listens to nobody; the role comes later, and the listener with it.
  add("db-nb-use-remote-in-db", "no");
  add("db-sb-use-remote-in-db", "no");
  // Nobody's address first: what replaces this copy is decided when it can be asked.
  add("db-nb-sync-from-addr", act::failover::kNobody);
  add("db-sb-sync-from-addr", act::failover::kNobody);
  add("db-nb-sync-from-port", p.nb.port);
  add("db-sb-sync-from-port", p.sb.port);
  add("db-nb-sync-from-proto", "tcp");
  add("db-sb-sync-from-proto", "tcp");
  arguments.emplace_back("start_ovsdb");
  return arguments;
}

Task<Code> Agent::wait_started() {
  while (true) {
    const Pair pair = co_await look();
    if (pair.backups()) co_return Code::kSuccess;
    if (pair.any_active()) {
      // Pacemaker promotes it, and nobody else does.
      const Result<void> done = co_await isolate();
      if (!done) log("WARNING", done.error().describe());
    } else if (deadline_.passed(runtime_.now() + kNextLook)) {
      reason(fmt::format("the servers did not start: northbound {}, southbound {}", pair.nb.detail,
                         pair.sb.detail));
      co_return Code::kGeneric;
    }
    co_await runtime_.sleep_until(runtime_.now() + kNextLook);
  }
}

Task<Code> Agent::start() {
  co_await know_node();
  Pair pair = co_await look();
  if (!pair.backups()) {
    if (code_of_unanswered(pair) == Code::kPermission) co_return Code::kPermission;
    // Nobody can give a role to a server that hangs, or that has lost its control socket.
    const bool ends = lost(pair.nb.life) || lost(pair.sb.life);
    if (ends) end_servers(pair);
  }
  const Result<ClusterRecord> record = co_await cluster_.record(deadline_);
  const std::string recorded = record ? record->active : std::string();
  std::string active = active_node(notification_, recorded);
  if (active == parameters_.node) active.clear();
  if (!pair.backups() && !pair.both_active()) {
    forget_pid_file(nb_);
    forget_pid_file(sb_);
    std::vector<std::string> arguments = start_arguments();
    const Result<void> started = co_await run_ovn_ctl(std::move(arguments));
    if (!started) log("WARNING", started.error().describe());
  }
  const Code code = co_await wait_started();
  if (code != Code::kSuccess) co_return code;
  forget_promotion();
  save();
  if (!active.empty()) co_await follow(std::move(active), 5s, true);
  pair = co_await look();
  const Code seen = code_of_backups(pair);
  static_cast<void>(seen);
  if (pair.backups()) co_await set_listeners(!settled(pair));
  co_await tell(pair, true);
  co_return pair.backups() ? Code::kSuccess : Code::kGeneric;
}

Task<Code> Agent::stop() {
  co_await know_node();
  if (parameters_.manages_northd()) {
    const Result<void> stopped = co_await stop_northd();
    if (!stopped) log("WARNING", stopped.error().describe());
  }
  Pair pair = co_await look();
  // ovn-ctl tries for nine seconds to end a stopped process in good order.
  if (pair.nb.life == Life::kHung && pair.nb.process) kill_server(*pair.nb.process);
  if (pair.sb.life == Life::kHung && pair.sb.process) kill_server(*pair.sb.process);
  forget_pid_file(nb_);
  forget_pid_file(sb_);
  std::vector<std::string> arguments = {"stop_ovsdb"};
  const Result<void> stopped = co_await run_ovn_ctl(std::move(arguments));
  if (!stopped) log("WARNING", stopped.error().describe());
  forget_promotion();
  save();
  while (true) {
    const auto nb = nb_.process();
    const auto sb = sb_.process();
    if (!nb && !sb) break;
    if (deadline_.passed(runtime_.now() + kNextLook)) {
      reason("a server does not end");
      co_return Code::kGeneric;
    }
    if (nb) kill_server(*nb);
    if (sb) kill_server(*sb);
    co_await runtime_.sleep_until(runtime_.now() + kNextLook);
  }
  const Result<void> forgotten = co_await cluster_.forget_score(deadline_);
  if (!forgotten) log("INFO", forgotten.error().describe());
  state_.told.clear();
  save();
  co_return Code::kSuccess;
}

}  // namespace wardmote::cli::ocf
