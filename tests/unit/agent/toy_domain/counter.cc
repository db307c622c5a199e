#include "unit/agent/toy_domain/counter.h"

#include <chrono>
#include <string_view>
#include <utility>

#include "base/format.h"

namespace wardmote::judge::toy {

void count(Counter& counter, Outcome seen) noexcept {
  if (seen == Outcome::kUnknown) return;
  counter.known = true;
  counter.count = seen == Outcome::kFail ? counter.count + 1 : 0;
}

CounterAssessment assess(const Counter& counter, ConditionTracker& memory, TimePoint now) {
  Conditions conditions;
  if (counter.count > counter.most) {
    Condition made = condition(Code::kCheckFailed, counter.of, now);
    made.finding.subjects = {counter.of};
    made.finding.summary = fmt::format("{} looks at {} have failed in a row, {} are allowed",
                                       counter.count, counter.of, counter.most);
    conditions.push_back(std::move(made));
  }
  ConditionReport report =
      memory.update(std::move(conditions), {.now = now,
                                            .round = std::chrono::seconds(1),
                                            .blind_to = [](std::string_view) { return false; }});
  CounterAssessment assessment{Outcome::kOk, std::move(report.findings),
                               std::move(report.observed)};
  if (!counter.known) assessment.outcome = Outcome::kUnknown;
  if (!assessment.findings.empty()) assessment.outcome = Outcome::kFail;
  return assessment;
}

}  // namespace wardmote::judge::toy
