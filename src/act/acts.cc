#include "act/acts.h"

#include <chrono>
#include <optional>
#include <string>
#include <utility>

#include "act/act_log.h"
#include "base/log.h"
#include "base/result.h"
#include "base/time.h"
#include "runtime/deadline.h"
#include "runtime/task.h"

namespace wardmote::act {

using runtime::Deadline;
using runtime::Task;

namespace {

/// To a disk that refused.
constexpr Duration kWriteAgain = std::chrono::seconds(2);

}  // namespace

Task<Acts::Outcome> Acts::carry_out(Act* act, Deadline deadline) {
  ActRecord intent = act->intent();
  const ActLog::Appended written =
      co_await log_.append(std::move(intent.entry), std::move(intent.state));
  if (!written.done) {
    const std::string reason = written.done.error().describe();
    log(LogLevel::kError, "journal_not_written", {{"reason", reason}});
    if (written.in_store) {
      ActRecord dropped = act->dropped(reason);
      co_await write_surely(std::move(dropped));
    } else {
      act->not_begun();
    }
    co_await runtime_.sleep_until(runtime_.now() + kWriteAgain);
    co_return Outcome::kNotBegun;
  }
  std::optional<std::string> objection = co_await act->recheck(deadline);
  if (!objection && deadline.passed(runtime_.now())) objection = "it is too late";
  if (!objection && !leadership_.leads()) objection = "another agent leads";
  if (objection) {
    ActRecord dropped = act->dropped(*objection);
    co_await write_surely(std::move(dropped));
    co_return Outcome::kDropped;
  }
  const Result<std::string> did = co_await act->carry_out(deadline);
  ActRecord ended = act->ended(did);
  co_await write_surely(std::move(ended));
  co_return Outcome::kEnded;
}

Task<void> Acts::write_surely(ActRecord record) {
  Result<void> written =
      co_await log_.append_surely(std::move(record.entry), std::move(record.state));
  while (!written) {
    log(LogLevel::kError, "journal_not_written", {{"reason", written.error().describe()}});
    if (written.error().code == Errc::kRejected) co_return;
    co_await runtime_.sleep_until(runtime_.now() + kWriteAgain);
    written = co_await log_.write_owed();
  }
}

}  // namespace wardmote::act
