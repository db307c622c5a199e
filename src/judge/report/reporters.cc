#include "judge/report/reporters.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/time.h"
#include "judge/judgement.h"
#include "judge/outcome.h"

namespace wardmote::judge {

void Reporters::add(std::string name, ReporterRule rule, TimePoint now) {
  entries_.insert_or_assign(std::move(name), Entry{rule, {}, now, false});
}

void Reporters::set_rule(std::string_view name, const ReporterRule& rule) {
  const auto found = entries_.find(name);
  if (found != entries_.end()) found->second.rule = rule;
}

void Reporters::remove(std::string_view name) {
  const auto found = entries_.find(name);
  if (found != entries_.end()) entries_.erase(found);
}

bool Reporters::report(std::string_view name, Report report, TimePoint now) {
  const auto found = entries_.find(name);
  if (found == entries_.end()) return false;
  Entry& entry = found->second;
  entry.report = std::move(report);
  entry.at = now;
  entry.reported = entry.fresh = true;
  entry.recalled = false;
  return true;
}

void Reporters::recall(std::string_view name, Report report, TimePoint now) {
  if (!this->report(name, std::move(report), now)) return;
  Entry& entry = entries_.find(name)->second;
  entry.recalled = true;
  entry.fresh = false;
}

void Reporters::resume(TimePoint now) noexcept {
  awake_since_ = now;
  for (auto& [name, entry] : entries_) entry.fresh = false;
}

ReporterStanding Reporters::stand(const std::string& name, const Entry& entry,
                                  TimePoint now) const {
  ReporterStanding standing{.name = name, .rule = entry.rule, .report = entry.report};
  standing.overridden = entry.rule.override.has_value();
  standing.timeout =
      entry.rule.override.value_or(entry.report.timeout.value_or(entry.rule.timeout));
  standing.age = std::max(now - entry.at, Duration::zero());
  const Duration silent = now - std::max(entry.at, awake_since_);
  standing.timed_out = standing.timeout > Duration::zero() && silent > standing.timeout;
  standing.reported = entry.reported;
  standing.recalled = entry.recalled;
  const bool holds_for_ever = entry.reported && standing.timeout == Duration::zero();
  standing.presumed = !entry.fresh && !standing.timed_out && !holds_for_ever;
  return standing;
}

std::optional<ReporterStanding> Reporters::standing(std::string_view name, TimePoint now) const {
  const auto found = entries_.find(name);
  if (found == entries_.end()) return std::nullopt;
  return stand(found->first, found->second, now);
}

std::vector<ReporterStanding> Reporters::standings(TimePoint now) const {
  std::vector<ReporterStanding> all;
  all.reserve(entries_.size());
  for (const auto& [name, entry] : entries_) all.push_back(stand(name, entry, now));
  return all;
}

ReporterSummary summarize(const std::vector<ReporterStanding>& standings) noexcept {
  return {std::ranges::all_of(standings, &ReporterStanding::live),
          std::ranges::all_of(standings, &ReporterStanding::ready)};
}

Judgement judge_reporter(const ReporterStanding& standing, ReportQuality quality) {
  const bool live = quality == ReportQuality::kLive;
  if (live ? standing.live() : standing.ready()) return {};
  if (standing.timed_out) {
    return {Outcome::kFail,
            {ReasonCode::kHung, fmt::format("timed out: no report for {}{}, its timeout is {}",
                                            format_duration(standing.age),
                                            standing.recalled ? " since the agent began" : "",
                                            format_duration(standing.timeout))}};
  }
  const std::string_view word = live ? "not live" : "not ready";
  if (!standing.reported) {
    // It may still be starting. After its timeout it has failed; without a timeout it becomes
    // blind.
    return {Outcome::kUnknown,
            {ReasonCode::kNotProbed,
             fmt::format("no report yet for {}", format_duration(standing.age))}};
  }
  const std::string& detail = standing.report.detail;
  return {Outcome::kFail,
          {ReasonCode::kState,
           fmt::format("reports that it is {}{}{}", word, detail.empty() ? "" : ": ", detail)}};
}

}  // namespace wardmote::judge
