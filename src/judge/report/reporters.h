#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "judge/judgement.h"

namespace wardmote::judge {

/// A report of a program about itself.
struct Report {
  bool live = true;
  bool ready = false;
  std::string detail;               ///< for people; may contain anything
  std::optional<Duration> timeout;  ///< how long it is valid, if the report says so; 0: for ever
  friend bool operator==(const Report&, const Report&) = default;
};

/// Which reports count, and for how long.
struct ReporterRule {
  bool live = true;    ///< it reports whether it is live
  bool ready = true;   ///< it reports whether it is ready
  Duration timeout{};  ///< unless the report says otherwise; 0: a report is valid for ever
  std::optional<Duration> override;  ///< whatever the report says; 0: for ever
  friend bool operator==(const ReporterRule&, const ReporterRule&) = default;
};

/// One reporter in its present state.
struct ReporterStanding {
  std::string name;
  ReporterRule rule;
  Report report;
  Duration timeout{};  ///< the present timeout; 0: none
  bool overridden = false;
  /// no report for longer than the timeout, while the agent could receive one
  bool timed_out = false;
  Duration age{};         ///< of the last report, or since it was added or recalled
  bool reported = false;  ///< there was a report
  bool recalled = false;  ///< an earlier life of the agent heard it, and nothing came since
  /// That the report is not too old yet is no sign of life: nothing came since the agent runs
  /// again, and before that it may have been overdue.
  bool presumed = false;

  /// A quality that it does not report counts as good.
  [[nodiscard]] bool live() const noexcept { return !rule.live || (report.live && !timed_out); }
  [[nodiscard]] bool ready() const noexcept { return !rule.ready || (report.ready && !timed_out); }
};

/// All reporters. The latest report wins; a report older than its timeout fails everything that its
/// reporter reports. As Calico's HealthAggregator (libcalico-go/lib/health, v3.22 to v3.32), in
/// which a reporter is live and not ready before its first report. Pure: time is a parameter.
class Reporters {
 public:
  /// A reporter with that name begins anew.
  void add(std::string name, ReporterRule rule, TimePoint now);
  /// What it has reported stays. Does nothing when there is no such reporter.
  void set_rule(std::string_view name, const ReporterRule& rule);
  void remove(std::string_view name);
  /// The agent did not run until `now`, so no report could arrive: all timeouts begin anew.
  void resume(TimePoint now) noexcept;
  /// What an earlier life of the agent heard last, nobody knows when.
  void recall(std::string_view name, Report report, TimePoint now);
  /// False when there is no reporter with that name.
  bool report(std::string_view name, Report report, TimePoint now);

  [[nodiscard]] std::optional<ReporterStanding> standing(std::string_view name,
                                                         TimePoint now) const;
  /// Sorted by name.
  [[nodiscard]] std::vector<ReporterStanding> standings(TimePoint now) const;
  [[nodiscard]] bool contains(std::string_view name) const noexcept {
    return entries_.contains(name);
  }

 private:
  struct Entry {
    ReporterRule rule;
    Report report;
    TimePoint at;
    bool reported = false;
    bool recalled = false;
    bool fresh = false;  ///< it came since the agent runs again
  };
  [[nodiscard]] ReporterStanding stand(const std::string& name, const Entry& entry,
                                       TimePoint now) const;

  std::map<std::string, Entry, std::less<>> entries_;
  TimePoint awake_since_;
};

/// Live and ready of all together.
struct ReporterSummary {
  bool live = true;
  bool ready = true;
  friend bool operator==(const ReporterSummary&, const ReporterSummary&) = default;
};
ReporterSummary summarize(const std::vector<ReporterStanding>& standings) noexcept;

enum class ReportQuality : std::uint8_t { kLive, kReady };

/// The outcome of one quality of a reporter as a check.
Judgement judge_reporter(const ReporterStanding& standing, ReportQuality quality);

}  // namespace wardmote::judge
