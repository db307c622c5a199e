// The programs of the operator: the fence, the one that may forbid a promotion, and the one that is
// told which role this node has.
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "act/failover/pair_manager.h"
#include "base/format.h"
#include "base/log.h"
#include "base/result.h"
#include "base/text.h"
#include "base/time.h"
#include "judge/failover/member.h"
#include "runtime/files.h"
#include "runtime/process.h"
#include "runtime/runtime.h"
#include "runtime/task.h"

namespace wardmote::act::failover {

using judge::failover::PairRecord;
using runtime::Task;
using namespace std::chrono_literals;

namespace {

constexpr Duration kRoleLook = 200ms;
constexpr Duration kLeadLook = 50ms;

std::vector<std::string> with(std::vector<std::string> argv, std::vector<std::string> more) {
  for (std::string& one : more) argv.push_back(std::move(one));
  return argv;
}

}  // namespace

/// Ended at once when this node does not lead any more: then another node may run its own.
Task<Result<void>> PairManager::run_while_leading(runtime::ProcessSpec spec, std::string what,
                                                  Duration timeout) {
  const auto ended = std::make_shared<std::optional<Result<void>>>();
  const auto run = [](Task<Result<void>> program,
                      std::shared_ptr<std::optional<Result<void>>> result) -> Task<void> {
    Result<void> done = co_await std::move(program);
    *result = std::move(done);
  };
  const auto id = tasks_.spawn("failover program",
                               run(run_hook(std::move(spec), std::move(what), timeout), ended));
  while (!*ended && leads()) co_await runtime_.sleep_until(runtime_.now() + kLeadLook);
  if (leads()) co_return **ended;
  tasks_.cancel(id);
  co_return fail(Errc::kRejected, "this node does not lead any more");
}

Task<Result<void>> PairManager::run_hook(runtime::ProcessSpec spec, std::string what,
                                         Duration timeout) {
  const Result<runtime::ProcessExit> ended =
      co_await runtime_.processes().run(std::move(spec), runtime_.deadline_in(timeout));
  if (!ended) co_return with_context(ended, "{}", what);
  if (ended->status != 0)
    co_return fail(Errc::kRejected, "{}: it ended with {}: {}", what, ended->status,
                   escape_control(trim(ended->standard_error)));
  co_return Result<void>();
}

/// Told before they are needed.
void PairManager::look_at_programs() {
  program_complaint_.reset();
  const auto look = [this](const std::vector<std::string>& argv, std::string_view what) {
    if (argv.empty()) return;
    const Result<void> may = runtime_.files().may_run(argv.front());
    if (!may)
      program_complaint_ =
          fmt::format("{} cannot be run, and a promotion that needs it will fail: {}", what,
                      may.error().describe());
  };
  look(options_.hooks.pre_promote, "the hook pre_promote");
  look(options_.fence, "the fence");
}

Task<Result<void>> PairManager::fence_last() {
  const PairRecord known = record();
  const bool needed = !options_.fence.empty() && known.epoch > 0 && !known.released &&
                      known.active != options_.node;
  if (!needed) co_return Result<void>();
  runtime::ProcessSpec spec{.argv = with(options_.fence, {known.active}), .ends_family = true};
  const Result<void> fenced =
      co_await run_while_leading(std::move(spec), "fence " + known.active, options_.fence_timeout);
  if (fenced) note("fence", "result", known.active + " is fenced");
  co_return fenced;
}

/// Whether this node may be promoted, as the operator's own program says.
Task<Result<void>> PairManager::ask_hook() {
  if (options_.hooks.pre_promote.empty()) co_return Result<void>();
  runtime::ProcessSpec spec{
      .argv = with(options_.hooks.pre_promote, {options_.name, record().active}),
      .ends_family = true};
  const Result<void> may = co_await run_while_leading(
      std::move(spec), "the hook pre_promote forbids it", options_.hooks.timeout);
  co_return may;
}

/// Each role that lasts; one that is over before the program has ended is not told.
Task<void> PairManager::tell_roles() {
  for (;;) {
    const bool primary = serves();
    if (told_primary_ != primary) co_await tell_role(primary, options_.hooks.timeout);
    co_await runtime_.sleep_until(runtime_.now() + kRoleLook);
  }
}

/// With the arguments that Patroni's callbacks have (docs: patroni/callbacks).
Task<void> PairManager::tell_role(bool primary, Duration timeout) {
  // Before it runs: whoever ends it in the middle has to say what is then.
  told_primary_ = primary;
  const std::string role = primary ? "primary" : "replica";
  runtime::ProcessSpec spec{
      .argv = with(options_.hooks.on_role_change, {"on_role_change", role, options_.name})};
  const Result<void> told =
      co_await run_hook(std::move(spec), "the hook on_role_change " + role, timeout);
  hook_complaint_ = told ? std::nullopt : std::optional(told.error().describe());
  if (told) co_return;
  log(LogLevel::kWarning, "failover_hook", {{"pair", options_.name}, {"reason", *hook_complaint_}});
}

}  // namespace wardmote::act::failover
