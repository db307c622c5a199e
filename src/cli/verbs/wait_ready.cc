#include <boost/json/value.hpp>
#include <optional>
#include <string>
#include <utility>

#include "base/format.h"
#include "base/result.h"
#include "base/time.h"
#include "cli/agent_address.h"
#include "cli/agent_client.h"
#include "cli/command.h"
#include "cli/exit_code.h"
#include "cli/find_agent.h"
#include "cli/gate/direct_gate.h"
#include "cli/gate/gate_line.h"
#include "cli/output.h"
#include "cli/session.h"
#include "cli/verbs/verbs.h"
#include "runtime/runtime.h"
#include "runtime/task.h"

namespace wardmote::cli {
namespace {

namespace json = boost::json;
using runtime::Task;
using namespace std::chrono_literals;

constexpr Duration kLookEvery = 500ms;
/// Whose registration was removed may write it again; then it is another matter whether it fits.
constexpr Duration kToRegisterAgain = 10s;
/// Before it is said that nothing was heard: whoever starts first is no news.
constexpr Duration kGraceOfTheAgent = 2s;

/// What is asked of this command, and what it has said.
struct Waiting {
  std::optional<TimePoint> deadline;
  bool follow = false;
  bool as_json = false;
  std::string said{};  ///< the last line
  bool heard = false;  ///< whoever is asked has answered, and the store too
  bool passed = false;
  std::optional<TimePoint> unready_since{};  ///< after it passed
};

/// Prints a change as one line. Nothing to do: returns nothing. Else the exit code.
std::optional<Exit> take(Waiting& waiting, const json::value& gate, TimePoint now) {
  waiting.heard = is_heard(gate);
  const std::string line = gate_line(gate);
  if (line != std::exchange(waiting.said, line))
    print((waiting.as_json ? json_line(gate) : line) + "\n");
  // Who was let in stays in while the store is silent, and nobody new is let in.
  const bool ready = is_ready(gate) && (waiting.passed || is_heard(gate));
  if (ready && !waiting.follow) return Exit::kGood;
  waiting.passed = waiting.passed || ready;
  if (ready) waiting.unready_since.reset();
  if (ready || !waiting.passed || !is_heard(gate)) return std::nullopt;
  if (!waiting.unready_since) waiting.unready_since = now;
  const bool over = is_settled(gate) || now - *waiting.unready_since >= kToRegisterAgain;
  return over ? std::optional(Exit::kCritical) : std::nullopt;
}

void say_silence(const Call& call, Waiting& waiting, const std::string& why) {
  waiting.heard = false;
  if (why == std::exchange(waiting.said, why)) return;
  complain(call, Exit::kUnknown, why);
}

/// Not ready is known, or nothing is.
std::optional<Exit> at_deadline(const Waiting& waiting, TimePoint now) {
  if (!waiting.deadline || waiting.passed || now < *waiting.deadline) return std::nullopt;
  return waiting.heard ? Exit::kCritical : Exit::kUnknown;
}

Task<Exit> ask_agent(const Call* call, runtime::Runtime* runtime, AgentClient* client,
                     Waiting waiting) {
  const std::string path = "/api/v1/version-gates/" + call->value("GATE");
  const TimePoint begun = runtime->now();
  for (;;) {
    std::string wanted = path;
    const Answer<json::value> answer = co_await client->get_json(std::move(wanted));
    if (answer) {
      if (const auto exit = take(waiting, *answer, runtime->now())) co_return *exit;
    } else if (answer.error().exit != Exit::kUnreachable &&
               answer.error().exit != Exit::kTemporary) {
      co_return complain(*call, answer.error().exit, answer.error().message);
    } else if (runtime->now() - begun > kGraceOfTheAgent) {
      say_silence(*call, waiting, answer.error().message);
    }
    if (const auto exit = at_deadline(waiting, runtime->now())) co_return *exit;
    co_await runtime->sleep_until(runtime->now() + kLookEvery);
  }
}

Task<Exit> ask_store(runtime::Runtime* runtime, DirectGate* gate, Waiting waiting) {
  gate->start();
  for (;;) {
    const json::value seen = gate->shown();
    if (const auto exit = take(waiting, seen, runtime->now())) co_return *exit;
    if (const auto exit = at_deadline(waiting, runtime->now())) co_return *exit;
    co_await gate->changed(kLookEvery);
  }
}

}  // namespace

Exit run_wait_ready(const Call& call) {
  const Result<Duration> timeout = call.duration("timeout", Duration::zero());
  if (!timeout) return complain(call, Exit::kUsage, timeout.error().context);
  Waiting waiting{.follow = call.has("follow"), .as_json = call.value("output") == "json"};
  if (call.has("etcd")) {
    auto options = direct_options(call);
    if (!options) return complain(call, Exit::kUsage, options.error().context);
    Session session;
    if (call.has("timeout")) waiting.deadline = session.runtime().now() + *timeout;
    DirectGate gate(session.runtime(), *std::move(options));
    const Exit exit = session.run(ask_store(&session.runtime(), &gate, std::move(waiting)));
    session.runtime().run(gate.stop());
    return exit;
  }
  for (const char* const only : {"etcd-user", "store", "state-prefix", "nodes-prefix", "node",
                                 "release", "min-reconciler-release", "no-register"}) {
    if (!call.has(only)) continue;
    return complain(
        call, Exit::kUsage,
        fmt::format("--{} is for --etcd; an agent knows it from its configuration", only));
  }
  Result<AgentAddress> address = find_agent(call);
  if (!address) return complain(call, Exit::kUsage, address.error().context);
  Session session;
  if (call.has("timeout")) waiting.deadline = session.runtime().now() + *timeout;
  AgentClient client(session.runtime(), std::move(*address));
  return session.run(ask_agent(&call, &session.runtime(), &client, std::move(waiting)));
}

}  // namespace wardmote::cli
