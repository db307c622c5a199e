#include "judge/host/database_host.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <ratio>
#include <string>
#include <utility>

#include "base/format.h"
#include "base/time.h"
#include "judge/judgement.h"
#include "judge/outcome.h"

namespace wardmote::judge {
namespace {

constexpr Duration kHour = std::chrono::hours(1);
/// Less than this share of the limit is bad, and not only a warning.
constexpr double kBadShare = 1.0 / 3.0;

double percent(std::uint64_t part, std::uint64_t whole) noexcept {
  return whole == 0 ? 100.0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

Judgement state(Outcome outcome, std::string text) {
  return {outcome, {ReasonCode::kState, std::move(text)}};
}

Judgement judge_server(const DatabaseHostFacts& facts) {
  if (!facts.runs || *facts.runs) return {};
  std::string text = "the server has ended";
  if (!facts.last_words.empty()) text += ": " + facts.last_words.back();
  return state(Outcome::kFail, std::move(text));
}

Judgement judge_file(const DatabaseHostFacts& facts, const DatabaseHostPolicy& policy) {
  if (facts.kind == DatabaseFileKind::kUnreadable)
    return state(Outcome::kFail, "the database file is damaged: " + facts.unreadable);
  if (!facts.header) return {};
  const RaftHeaderFacts& header = *facts.header;
  if (!policy.server_id.empty() && header.server_id != policy.server_id) {
    return state(
        Outcome::kFail,
        fmt::format("the file is that of server {}, and not of {}: it was made anew, or it "
                    "is an old copy",
                    header.server_id, policy.server_id));
  }
  const bool nameless = header.cluster_id.find_first_not_of("0-") == std::string::npos;
  if (!header.joining && nameless)
    return state(Outcome::kFail, "the file has no cluster id: it cannot be started as it is");
  return {};
}

Judgement judge_space(const DatabaseHostFacts& facts, const DatabaseHostPolicy& policy) {
  struct Share {
    double left;
    const char* of;
  };
  const Share bytes{percent(facts.free_bytes, facts.total_bytes), "bytes"};
  const Share inodes{percent(facts.free_inodes, facts.total_inodes), "inodes"};
  const Share& scarcer = inodes.left < bytes.left ? inodes : bytes;
  if (scarcer.left < policy.least_percent) {
    const bool little = scarcer.left < policy.least_percent * kBadShare;
    return state(
        little ? Outcome::kFail : Outcome::kWarn,
        fmt::format("{:.1f} % of the {} of its file system are free", scarcer.left, scarcer.of));
  }
  if (facts.days_left && *facts.days_left < policy.least_days) {
    const bool soon = *facts.days_left < policy.least_days * kBadShare;
    return state(
        soon ? Outcome::kFail : Outcome::kWarn,
        fmt::format("its file system is full in {:.1f} days at the speed of the last hours",
                    *facts.days_left));
  }
  return {};
}

}  // namespace

std::optional<double> SpaceTrend::feed(std::uint64_t free_bytes, TimePoint now) {
  if (hours_.empty() || now - hours_.back().begun >= kHour) {
    if (hours_.size() == kMostHours) hours_.erase(hours_.begin());
    hours_.push_back({now, free_bytes});
  }
  hours_.back().least = std::min(hours_.back().least, free_bytes);
  if (hours_.size() <= kLeastHours) return std::nullopt;
  const Hour& first = hours_.front();
  const Hour& last = hours_.back();
  if (last.least >= first.least) return std::nullopt;
  const auto days = std::chrono::duration<double, std::ratio<86400>>(last.begun - first.begun);
  const double a_day = static_cast<double>(first.least - last.least) / days.count();
  return static_cast<double>(free_bytes) / a_day;
}

Judgement judge_database_host(const DatabaseHostFacts& facts, const DatabaseHostPolicy& policy) {
  Judgement worst;
  for (const Judgement& each :
       {judge_server(facts), judge_file(facts, policy), judge_space(facts, policy)}) {
    // None of them is ever unknown, so the greater is the worse.
    if (each.outcome > worst.outcome) {
      worst = each;
    } else if (each.outcome == worst.outcome && each.outcome != Outcome::kOk) {
      worst.reason.text += "; " + each.reason.text;
    }
  }
  return worst;
}

}  // namespace wardmote::judge
