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

/// What keeps the leader from a status that fits.
std::string of_the_leader(const Report& report) {
  if (report.candidates.empty()) {
    return "no node stands in the election: start one that reconciles, of the highest release that "
           "is registered";
  }
  const std::string& leader = report.candidates.front().node;
  if (!report.progress) return fmt::format("{} leads and has not said what it is at", leader);
  const Progress& progress = *report.progress;
  if (progress.step != "blocked")
    return fmt::format("{} leads and is {}: {}", leader, progress.step, progress.why);
  return fmt::format(
      "{} leads and {}; upgrade {}, or remove its registration if it is gone for "
      "good",
      leader, progress.why, fmt::join(progress.nodes, ", "));
}

}  // namespace

std::string_view to_string(Admission::Verdict verdict) noexcept {
  return kNames[static_cast<std::size_t>(verdict)];
}

std::string what_unblocks(const Report& report) {
  using Verdict = Admission::Verdict;
  switch (report.admission.verdict) {
    case Verdict::kReady: return "";
    case Verdict::kUnregistered:
    case Verdict::kUnread:
      return report.complaint ? fmt::format("this ends: {}", *report.complaint)
                              : "the store takes the registration, and answers";
    case Verdict::kNoStatus: return of_the_leader(report);
    case Verdict::kUnreadable:
      return fmt::format("a leader writes the status anew after a whole pass; {}",
                         of_the_leader(report));
    case Verdict::kNodeTooOld:
      return fmt::format("upgrade this node to {} or newer",
                         to_string(report.stored.status.minimum));
    case Verdict::kStatusTooOld:
      return fmt::format("a node of release {} or newer reconciles; {}",
                         to_string(report.own.min_reconciler_release), of_the_leader(report));
  }
  return "";
}

}  // namespace wardmote::judge::version_gate
