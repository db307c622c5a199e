#include "judge/guest/inside.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/text.h"
#include "base/time.h"
#include "judge/condition/condition.h"
#include "judge/finding.h"

namespace wardmote::judge::guest {
namespace {

constexpr std::size_t kLongestName = 128;

/// Made once and full ever since.
bool is_image(std::string_view type) noexcept {
  constexpr auto kImages = std::to_array<std::string_view>(
      {"iso9660", "squashfs", "udf", "erofs", "cramfs", "romfs", "CDFS", "UDF"});
  return std::ranges::find(kImages, type) != kImages.end();
}

bool is_wanted(const InsidePolicy& policy, Inquiry inquiry) noexcept {
  switch (inquiry) {
    case Inquiry::kFreeze: return policy.freeze;
    case Inquiry::kClock: return policy.clock;
    case Inquiry::kFileSystems: return policy.file_systems;
  }
  return false;
}

Inquiry after(Inquiry inquiry) noexcept {
  switch (inquiry) {
    case Inquiry::kFreeze: return Inquiry::kClock;
    case Inquiry::kClock: return Inquiry::kFileSystems;
    case Inquiry::kFileSystems: return Inquiry::kFreeze;
  }
  return Inquiry::kFreeze;
}

/// Without an overflow, whatever a guest says.
bool is_full(const FileSystem& one, int percent) noexcept {
  const auto share = static_cast<double>(one.used) / static_cast<double>(one.total) * 100;
  return one.total > 0 && share >= static_cast<double>(percent);
}

std::string says_full(const FileSystem& one) {
  const auto share = static_cast<double>(one.used) / static_cast<double>(one.total) * 100;
  return fmt::format("{} ({}) is {:.0f} % full", escape_control(one.mountpoint, kLongestName),
                     escape_control(one.type, kLongestName), std::min(share, 100.0));
}

std::string says_drift(Duration drift) {
  const Duration size = drift < Duration::zero() ? -drift : drift;
  return fmt::format("{} {}", format_duration(size), drift < Duration::zero() ? "slow" : "fast");
}

Condition of(Code code, const std::string& key, TimePoint since, std::string summary,
             TimePoint now) {
  Condition seen = condition(code, key, now);
  seen.since = since;
  seen.finding.summary = std::move(summary);
  return seen;
}

}  // namespace

void InsideWatch::recall(const Record& record, TimePoint now) {
  // The earlier life may have asked just now.
  asked_ = now;
  if (record.frozen_since) {
    frozen_since_ = record.frozen_since;
    frozen_seen_ = now;
  }
  if (record.drifts_since) {
    drifts_ = kLooks;
    drifts_since_ = *record.drifts_since;
    drift_ = found_drift_ = record.drift;
  }
  if (record.full_since) {
    full_looks_ = kLooks;
    full_since_ = *record.full_since;
    full_ = fill_ = record.full;
  }
}

InsideWatch::Record InsideWatch::record(const InsidePolicy& policy) const {
  Record record;
  if (is_left_frozen(policy)) record.frozen_since = frozen_since_;
  if (drifts_ >= kLooks) {
    record.drifts_since = drifts_since_;
    record.drift = found_drift_;
  }
  if (full_looks_ >= kLooks) {
    record.full_since = full_since_;
    record.full = full_;
  }
  return record;
}

std::optional<Inquiry> InsideWatch::due(const InsidePolicy& policy, TimePoint now) const {
  if (asked_ && now - *asked_ < kPause) return std::nullopt;
  if (frozen_since_ && policy.freeze) return Inquiry::kFreeze;
  Inquiry next = after(last_);
  for (int i = 0; i < 3; ++i, next = after(next)) {
    if (is_wanted(policy, next)) return next;
  }
  return std::nullopt;
}

void InsideWatch::asked(Inquiry inquiry, TimePoint now) {
  asked_ = now;
  last_ = inquiry;
}

void InsideWatch::frozen(bool frozen, TimePoint now) {
  if (!frozen) {
    frozen_since_.reset();
    return;
  }
  if (!frozen_since_) frozen_since_ = now;
  frozen_seen_ = now;
}

void InsideWatch::clock(Duration ahead, Duration doubt, const InsidePolicy& policy, TimePoint now) {
  const Duration size = ahead < Duration::zero() ? -ahead : ahead;
  if (size - doubt <= policy.clock_drift) {
    drifts_ = 0;
    return;
  }
  if (drifts_ == 0) drifts_since_ = now;
  drift_ = ahead;
  if (++drifts_ == kLooks) found_drift_ = ahead;
  drifts_ = std::min(drifts_, kLooks + 1);
}

void InsideWatch::file_systems(const std::vector<FileSystem>& all, const InsidePolicy& policy,
                               TimePoint now) {
  full_.clear();
  fill_.clear();
  for (const FileSystem& one : all) {
    if (is_image(one.type) || !is_full(one, policy.full_percent)) continue;
    if (full_.size() == kMostNamed) break;
    full_.push_back(escape_control(one.mountpoint, kLongestName));
    fill_.push_back(says_full(one));
  }
  if (full_.empty()) {
    full_looks_ = 0;
    return;
  }
  if (full_looks_ == 0) full_since_ = now;
  full_looks_ = std::min(full_looks_ + 1, kLooks);
}

void InsideWatch::forget() noexcept {
  frozen_since_.reset();
  drifts_ = 0;
  full_looks_ = 0;
}

bool InsideWatch::is_left_frozen(const InsidePolicy& policy) const noexcept {
  // Of an agent that answers nothing since nobody knows more than what it said last.
  return frozen_since_ && frozen_seen_ - *frozen_since_ >= policy.frozen_after;
}

Conditions InsideWatch::conditions(const InsidePolicy& policy, const std::string& called,
                                   const std::string& key, TimePoint now) const {
  Conditions all;
  if (policy.freeze && is_left_frozen(policy)) {
    all.push_back(of(Code::kVmFsFrozen, key, *frozen_since_,
                     fmt::format("{} has frozen file systems: whatever writes there hangs", called),
                     now));
    all.back().finding.evidence.push_back({"guest agent", "guest-fsfreeze-status: frozen"});
  }
  if (policy.clock && drifts_ >= kLooks) {
    all.push_back(of(Code::kVmClockDrift, key, drifts_since_,
                     fmt::format("the clock of {} is wrong", called), now));
    all.back().finding.evidence.push_back(
        {"guest agent",
         fmt::format("guest-get-time: {}, by the host's clock", says_drift(drift_))});
  }
  if (policy.file_systems && full_looks_ >= kLooks) {
    all.push_back(of(Code::kVmFsFull, key, full_since_,
                     fmt::format("{} has a full file system: {}", called, fmt::join(full_, ", ")),
                     now));
    for (const std::string& one : fill_)
      all.back().finding.evidence.push_back({"guest agent", one});
  }
  return all;
}

}  // namespace wardmote::judge::guest
