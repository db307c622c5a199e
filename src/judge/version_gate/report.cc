#include "judge/version_gate/report.h"

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "base/format.h"
#include "judge/version_gate/admission.h"
#include "judge/version_gate/release.h"

namespace wardmote::judge::version_gate {
namespace {

constexpr std::array<std::string_view, 7> kNames{
    "ready", "unregistered", "unread", "no_status", "unreadable", "node_too_old", "status_too_old"};

/// What has to happen before the status fits, and what the leader is at.
std::string once_reconciled(const Report& report) {
  if (!report.paused_by.empty())
    return fmt::format(
        "the pause by {} ends ('{}')", report.paused_by,
        report.all_paused ? "wardmote resume" : "wardmote reconcile resume " + report.gate);
  if (report.preserved && !report.preserved->why.empty())
    return fmt::format(
        "an operator replaces the record of a preserved release, which cannot be read and keeps "
        "everybody from writing ('wardmote gate finalize {}' removes it)",
        report.gate);
  if (report.preserved && report.candidates.empty())
    return fmt::format(
        "a node of release {} or older reconciles, which {} preserves; none stands "
        "in the election ('wardmote gate finalize {}' lets newer ones)",
        to_string(report.preserved->release), report.preserved->by, report.gate);
  if (report.candidates.empty()) {
    return "a node of the highest registered release reconciles; none stands in the election";
  }
  std::string text =
      fmt::format("{}, which leads, finishes its pass; ", report.candidates.front().node);
  if (!report.progress) return text + "it has not said what it is at";
  const Progress& progress = *report.progress;
  if (progress.step != "blocked")
    return text + fmt::format("it is {}: {}", progress.step, progress.why);
  return text + fmt::format("it {}; upgrade {}, or remove its registration if it is gone for good",
                            progress.why, fmt::join(progress.nodes, ", "));
}

}  // namespace

std::string_view to_string(Admission::Verdict verdict) noexcept {
  return kNames[static_cast<std::size_t>(verdict)];
}

std::string what_unblocks(const Report& report) {
  using Verdict = Admission::Verdict;
  if (report.admission.set_back && report.earlier && !report.admission.ready()) {
    std::string pass =
        "a whole pass is recorded in the store as it is now: " + once_reconciled(report);
    if (report.admission.verdict != Verdict::kNodeTooOld) return pass;
    return fmt::format("this node is upgraded to {} or newer, or {}",
                       to_string(report.earlier->stored.status.minimum), pass);
  }
  switch (report.admission.verdict) {
    case Verdict::kReady: return "";
    case Verdict::kUnregistered:
    case Verdict::kUnread:
      return report.complaint ? fmt::format("this ends: {}", *report.complaint)
                              : "the store takes the registration, and answers";
    case Verdict::kNoStatus: return once_reconciled(report);
    case Verdict::kUnreadable: return once_reconciled(report) + "; it then writes the status anew";
    case Verdict::kNodeTooOld:
      return fmt::format("this node is upgraded to {} or newer",
                         to_string(report.stored.status.minimum));
    case Verdict::kStatusTooOld:
      return fmt::format("a node of release {} or newer reconciles: {}",
                         to_string(report.own.min_reconciler_release), once_reconciled(report));
  }
  return "";
}

}  // namespace wardmote::judge::version_gate
