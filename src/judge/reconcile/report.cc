#include "judge/reconcile/report.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "base/format.h"

namespace wardmote::judge::reconcile {
namespace {

using Action = ObjectReport::Action;

constexpr auto kCounted = std::to_array<Action>(
    {Action::kCreated, Action::kChanged, Action::kRecreated, Action::kPruned, Action::kLeft});

}  // namespace

std::string_view to_string(Action action) noexcept {
  switch (action) {
    case Action::kUnchanged: return "unchanged";
    case Action::kCreated: return "created";
    case Action::kChanged: return "changed";
    case Action::kRecreated: return "recreated";
    case Action::kPruned: return "pruned";
    case Action::kLeft: return "left";
    case Action::kFailed: return "failed";
  }
  return "failed";
}

bool PassReport::good() const {
  return faults.empty() && prune_refused.empty() &&
         std::ranges::none_of(
             touched, [](const ObjectReport& one) { return one.action == Action::kFailed; });
}

bool PassReport::differs() const {
  return std::ranges::any_of(touched, [](const ObjectReport& one) {
    return one.action != Action::kUnchanged && one.action != Action::kLeft;
  });
}

void Tally::add(const PassReport& report) {
  ++(report.good() ? good : failed);
  if (report.good()) last_good = report.begun + report.took;
  writes += report.writes;
  conflicts += report.conflicts;
  fenced += report.fenced ? 1 : 0;
  for (const ObjectReport& one : report.touched) ++objects[one.action];
}

std::string summary_of(const PassReport& report) {
  std::string text;
  for (const std::string& fault : report.faults) text += fault + "; ";
  if (!report.prune_refused.empty())
    text += fmt::format("nothing is pruned: {}; ", report.prune_refused);
  const auto count = [&report](Action action) {
    return std::ranges::count(report.touched, action, &ObjectReport::action);
  };
  if (const auto failed = count(Action::kFailed); failed > 0) {
    const auto first = std::ranges::find(report.touched, Action::kFailed, &ObjectReport::action);
    text += fmt::format("{} of {} objects failed, the first is {}: {}; ", failed, report.objects,
                        first->object, first->why);
  }
  text += fmt::format("{} objects", report.objects);
  std::string_view separator = ": ";
  for (const Action action : kCounted) {
    if (count(action) == 0) continue;
    text += fmt::format("{}{} {}", separator, count(action), to_string(action));
    separator = ", ";
  }
  return text;
}

}  // namespace wardmote::judge::reconcile
