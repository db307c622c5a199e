#include <unistd.h>

#include <algorithm>
#include <boost/json/value.hpp>
#include <string>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/result.h"
#include "base/time.h"
#include "cli/assess_plan.h"
#include "cli/command.h"
#include "cli/evidence_file.h"
#include "cli/exit_code.h"
#include "cli/format.h"
#include "cli/judging.h"
#include "cli/output.h"
#include "cli/render/cluster.h"
#include "cli/session.h"
#include "cli/verbs/verbs.h"
#include "judge/raft/assess.h"
#include "judge/raft/opinion.h"
#include "judge/verdict.h"
#include "observe/ovn/cluster.h"
#include "runtime/deadline.h"
#include "runtime/runtime.h"
#include "store/evidence.h"

namespace wardmote::cli {
namespace {

namespace raft = judge::raft;
using runtime::Deadline;
using runtime::Runtime;
using runtime::Task;

/// Probes all members at the same time, round after round, and judges after each round, so that
/// windows pass as in the agent.
class Assessor {
 public:
  Assessor(Runtime& runtime, AssessPlan plan)
      : runtime_(&runtime),
        plan_(std::move(plan)),
        cluster_(runtime, std::move(plan_.members)),
        judging_(head()) {}

  /// Call before run(): all opinions go into this file, too.
  Result<void> record(const std::string& path) { return record_.begin(path, head()); }

  /// kInternal: a part could not be recorded. The verdict is valid all the same.
  Task<Result<void>> run() {
    const TimePoint begun = runtime_->now();
    Result<void> recorded;
    for (TimePoint due = begun;;) {
      const Deadline deadline{runtime_->now() + plan_.timeout};
      std::vector<raft::Opinion> opinions = co_await cluster_.look_all(deadline);
      store::EvidenceLook look{runtime_->now(), runtime_->wall_now(), std::move(opinions)};
      const TimePoint judged = look.judged;
      if (recorded) recorded = record_.add(look);
      judging_.take(std::move(look));
      show_progress(judged - begun);
      // After a round that took longer than the interval, the missed rounds are not made up for.
      due = std::max(due + plan_.every, judged);
      if (due - begun > plan_.total) break;
      co_await runtime_->sleep_until(due);
    }
    judging_.finish();
    clear_progress();
    co_return recorded;
  }

  [[nodiscard]] const Judging& judging() const noexcept { return judging_; }

 private:
  [[nodiscard]] store::EvidenceHead head() const {
    return {plan_.expectation.database, plan_.expectation, plan_.every};
  }

  [[nodiscard]] bool shows_progress() const {
    return plan_.total > Duration::zero() && ::isatty(STDERR_FILENO) == 1;
  }

  void show_progress(Duration passed) const {
    if (!shows_progress()) return;
    print_error(fmt::format("\rlooked for {} of {}: {}\x1b[K", format_duration(passed),
                            format_duration(plan_.total), judge::to_string(judging_.verdict())));
  }

  void clear_progress() const {
    if (shows_progress()) print_error("\r\x1b[K");
  }

  Runtime* runtime_;
  AssessPlan plan_;
  observe::ovn::Cluster cluster_;
  Judging judging_;
  EvidenceWriter record_;
};

Task<Exit> assess(const Call* call, Assessor* assessor) {
  const Result<void> recorded = co_await assessor->run();
  const Judging& judging = assessor->judging();
  const boost::json::value shown = judging.result();
  const Format format = format_of(*call);
  print(for_programs(format) ? written(format, shown) : draw_cluster(shown, style_for(*call)));
  if (!recorded) co_return complain(*call, Exit::kTemporary, recorded.error().context);
  co_return exit_of_verdict(to_string(judging.verdict()));
}

}  // namespace

Exit run_assess_ovn(const Call& call) {
  Result<AssessPlan> plan = assess_plan(call);
  if (!plan) return complain(call, Exit::kUsage, plan.error().context);
  Session session;
  Assessor assessor(session.runtime(), std::move(*plan));
  if (call.has("record")) {
    const Result<void> begun = assessor.record(call.value("record"));
    if (!begun) return complain(call, Exit::kUsage, begun.error().context);
  }
  return session.run(assess(&call, &assessor));
}

}  // namespace wardmote::cli
