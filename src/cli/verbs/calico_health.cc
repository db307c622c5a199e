#include <signal.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/result.h"
#include "base/text.h"
#include "base/time.h"
#include "cli/command.h"
#include "cli/environment.h"
#include "cli/exit_code.h"
#include "cli/go_flags.h"
#include "cli/output.h"
#include "cli/session.h"
#include "cli/verbs/verbs.h"
#include "judge/bgp/policy.h"
#include "observe/calico/health.h"
#include "runtime/deadline.h"
#include "runtime/runtime.h"
#include "runtime/task.h"
#include "runtime/task_group.h"

namespace wardmote::cli {
namespace {

namespace calico = observe::calico;
using calico::Check;
using calico::HealthPlan;
using calico::HealthResult;
using runtime::Deadline;
using runtime::Runtime;
using runtime::Task;
using Verdict = HealthResult::Verdict;
using namespace std::chrono_literals;

// The exit codes of calico-node, which differ from those of the other commands.
constexpr Exit kNotReady{1};
constexpr Exit kPanic{2};

/// The kubelet's timeout in Calico's manifests is 10 s, and a killed probe prints nothing.
constexpr Duration kDeadline = 9s;

constexpr auto kChecks =
    std::to_array<Check>({Check::kFelixLive, Check::kBirdLive, Check::kBird6Live,
                          Check::kFelixReady, Check::kBirdReady, Check::kBird6Ready});

struct Order {
  HealthPlan plan;
  std::vector<Check> checks;
  Duration deadline{};
  bool explain = false;
};

Result<judge::bgp::Policy> read_policy(const Call& call) {
  judge::bgp::Policy policy = calico::own_policy();
  const Result<std::int64_t> min_peers = call.integer("min-peers", 0);
  if (!min_peers) return std::unexpected(min_peers.error());
  if (*min_peers < 0) return fail(Errc::kInvalid, "--min-peers: it is negative");
  policy.min_peers = static_cast<std::size_t>(*min_peers);
  if (*min_peers > 0) policy.no_peers = judge::bgp::Treat::kFail;
  policy.expect = call.values("expect");
  if (call.has("gr")) policy.restart = *judge::bgp::parse_during_restart(call.value("gr"));
  return policy;
}

Result<Order> read_order(const Call& call) {
  Order order;
  Result<judge::bgp::Policy> policy = read_policy(call);
  if (!policy) return std::unexpected(policy.error());
  order.plan.policy = *std::move(policy);
  if (call.has("threshold-time")) {
    const std::string text = call.value("threshold-time");
    const std::optional<Duration> threshold = parse_go_duration(text);
    if (!threshold)
      return fail(Errc::kInvalid, "invalid value \"{}\" for flag -threshold-time: parse error",
                  text);
    order.plan.threshold = *threshold;
  }
  const Result<Duration> deadline = call.duration("deadline", kDeadline);
  if (!deadline) return std::unexpected(deadline.error());
  order.deadline = *deadline;
  if (call.has("compat")) order.plan.release = *calico::parse_release(call.value("compat"));
  order.plan.root = call.value("root");
  order.explain = call.has("explain");
  const std::string host = environment("FELIX_HEALTHHOST");
  const std::string port = environment("FELIX_HEALTHPORT");
  if (!host.empty()) order.plan.felix.host = host;
  if (!port.empty()) order.plan.felix.port = port;
  // strconv.Atoi: `+9099` is a port there.
  const std::optional<std::int64_t> number = parse_go_int(order.plan.felix.port);
  if (order.plan.release != calico::Release::kOwn && number)
    order.plan.felix.port = std::to_string(*number);
  for (const Check check : kChecks) {
    if (call.has(to_string(check))) order.checks.push_back(check);
  }
  return order;
}

/// The results so far. Each failure is printed as soon as it is known, so that a caller that gives
/// up early has read it; with --compat the first one is printed at the end, as Calico does.
struct Tally {
  bool bad = false;
  bool unknown = false;
  std::string first;  ///< what --compat prints
  std::string panic;
};

bool shows_all(const Order& order) noexcept {
  return order.explain || order.plan.release == calico::Release::kOwn;
}

void take(const Order& order, Check check, const HealthResult& result, Tally& tally) {
  tally.bad = tally.bad || result.verdict == Verdict::kBad;
  tally.unknown = tally.unknown || result.verdict == Verdict::kUnknown;
  if (result.verdict == Verdict::kPanic) {
    tally.panic = result.text;
  } else if (tally.first.empty()) {
    tally.first = result.text;
  }
  std::string lines;
  if (!result.text.empty() && shows_all(order)) lines = result.text + "\n";
  if (order.explain) {
    lines += fmt::format("{}: {}\n", to_string(check), result.text.empty() ? "good" : "not good");
    for (const std::string& detail : result.details) lines += "  " + detail + "\n";
  }
  if (!lines.empty()) print(lines);
}

Task<void> run_one(Runtime* runtime, const Order* order, Check check, Deadline deadline,
                   Tally* tally) {
  const HealthResult result = co_await calico::check_health(runtime, &order->plan, check, deadline);
  take(*order, check, result, *tally);
}

Task<Exit> run_all_checks(Runtime* runtime, const Order* order) {
  const Deadline deadline = runtime->deadline_in(order->deadline);
  Tally tally;
  std::vector<Task<void>> tasks;
  tasks.reserve(order->checks.size());
  for (const Check check : order->checks)
    tasks.push_back(run_one(runtime, order, check, deadline, &tally));
  co_await runtime::run_all(runtime->executor(), std::move(tasks));
  if (!tally.panic.empty()) {
    print_error(tally.panic + "\n");
    co_return kPanic;
  }
  if (!shows_all(*order) && !tally.first.empty()) print(tally.first + "\n");
  if (tally.bad) co_return kNotReady;
  co_return tally.unknown ? Exit::kUnknown : Exit::kGood;
}

}  // namespace

Exit run_calico_health(const Call& call) {
  const Result<Order> order = read_order(call);
  if (!order) return complain(call, kNotReady, order.error().context);
  const std::string& port = order->plan.felix.port;
  if (order->plan.release != calico::Release::kOwn && !parse_go_int(port)) {
    // Calico reads the port before anything else, for each of its commands.
    print_error(
        fmt::format("panic: Failed to parse value for port \"{}\"\n", escape_control(port, 120)));
    return kPanic;
  }
  if (order->checks.empty()) {
    print(
        "calico/node check error: must specify at least one of -bird-live, -bird6-live, "
        "-felix-live, -bird, -bird6, or -felix\n");
    return kNotReady;
  }
  ::signal(SIGPIPE, SIG_IGN);  // a reader that closed the pipe does not change the verdict
  Session session;
  return session.run(run_all_checks(&session.runtime(), &*order));
}

}  // namespace wardmote::cli
