#include <unistd.h>

#include <algorithm>
#include <boost/json/value.hpp>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/result.h"
#include "base/time.h"
#include "cli/assess_plan.h"
#include "cli/command.h"
#include "cli/exit_code.h"
#include "cli/format.h"
#include "cli/output.h"
#include "cli/render/cluster.h"
#include "cli/session.h"
#include "cli/verbs/verbs.h"
#include "judge/finding.h"
#include "judge/raft/assess.h"
#include "judge/raft/memory.h"
#include "judge/raft/opinion.h"
#include "observe/ovn/cluster.h"
#include "runtime/deadline.h"
#include "runtime/runtime.h"
#include "serve/json.h"
#include "serve/view.h"

namespace wardmote::cli {
namespace {

namespace raft = judge::raft;
using runtime::Deadline;
using runtime::Runtime;
using runtime::Task;

/// The agent looks again and may wait for a window to pass. Here nobody does, so what was only seen
/// must not pass as good.
raft::Verdict last_word(const raft::Assessment& assessment) {
  const bool unsettled = std::ranges::any_of(assessment.observed, [](const raft::Observed& seen) {
    return judge::info(seen.code).severity != judge::Severity::kInfo;
  });
  if (assessment.verdict != raft::Verdict::kOk || !unsettled) return assessment.verdict;
  return raft::Verdict::kWarning;
}

/// Looks at all members at once, again and again, and judges after each look, so that windows pass
/// as in the agent.
class Assessor {
 public:
  Assessor(Runtime& runtime, AssessPlan plan)
      : runtime_(&runtime), plan_(std::move(plan)), cluster_(runtime, std::move(plan_.members)) {
    view_.name = plan_.expectation.database;
    view_.expectation = plan_.expectation;
    view_.every = plan_.every;
  }

  Task<void> run() {
    const TimePoint begun = runtime_->now();
    for (TimePoint due = begun;;) {
      const Deadline deadline{runtime_->now() + plan_.timeout};
      std::vector<raft::Opinion> opinions = co_await cluster_.look_all(deadline);
      view_.opinions = std::move(opinions);
      view_.judged = runtime_->now();
      view_.assessment = raft::assess(view_.opinions, view_.expectation, memory_, view_.judged);
      show_progress(view_.judged - begun);
      // A look that took longer than the interval is not made up for.
      due = std::max(due + plan_.every, view_.judged);
      if (due - begun > plan_.total) break;
      co_await runtime_->sleep_until(due);
    }
    view_.assessment.verdict = last_word(view_.assessment);
    clear_progress();
  }

  [[nodiscard]] boost::json::value result() const {
    return serve::to_json(view_, runtime_->now(), runtime_->wall_now());
  }
  [[nodiscard]] raft::Verdict verdict() const noexcept { return view_.assessment.verdict; }

 private:
  [[nodiscard]] bool shows_progress() const {
    return plan_.total > Duration::zero() && ::isatty(STDERR_FILENO) == 1;
  }

  void show_progress(Duration passed) const {
    if (!shows_progress()) return;
    print_error(fmt::format("\rlooked for {} of {}: {}\x1b[K", format_duration(passed),
                            format_duration(plan_.total), to_string(view_.assessment.verdict)));
  }

  void clear_progress() const {
    if (shows_progress()) print_error("\r\x1b[K");
  }

  Runtime* runtime_;
  AssessPlan plan_;
  observe::ovn::Cluster cluster_;
  raft::Memory memory_;
  serve::ClusterView view_;
};

Task<Exit> assess(const Call* call, Assessor* assessor) {
  co_await assessor->run();
  const boost::json::value shown = assessor->result();
  const Format format = format_of(*call);
  print(for_programs(format) ? written(format, shown) : draw_cluster(shown, style_for(*call)));
  co_return exit_of_verdict(to_string(assessor->verdict()));
}

}  // namespace

Exit run_assess_ovn(const Call& call) {
  Result<AssessPlan> plan = assess_plan(call);
  if (!plan) return complain(call, Exit::kUsage, plan.error().context);
  Session session;
  Assessor assessor(session.runtime(), std::move(*plan));
  return session.run(assess(&call, &assessor));
}

}  // namespace wardmote::cli
