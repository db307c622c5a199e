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

/// What somebody says of itself.
struct Report {
  bool live = true;
  bool ready = false;
  std::string detail;               ///< for people; may hold anything
  std::optional<Duration> timeout;  ///< how long it holds, if the reporter says so; 0: for ever
  friend bool operator==(const Report&, const Report&) = default;
};

/// Which reports count, and for how long.
struct ReporterRule {
  bool live = true;    ///< it reports whether it lives
  bool ready = true;   ///< it reports whether it is ready
  Duration timeout{};  ///< unless the reporter says something else; 0: a report holds for ever
  std::optional<Duration> override;  ///< whatever the reporter says; 0: for ever
  friend bool operator==(const ReporterRule&, const ReporterRule&) = default;
};

/// One reporter, as it stands now.
struct ReporterStanding {
  std::string name;
  ReporterRule rule;
  Report report;
  Duration timeout{};  ///< in force; 0: none
  bool overridden = false;
  bool timed_out = false;  ///< the last report is older than that
  Duration age{};          ///< of the last report, or since it was added
  bool reported = false;   ///< ever

  /// Of a quality that it does not report there is nothing bad to say.
  [[nodiscard]] bool live() const noexcept { return !rule.live || (report.live && !timed_out); }
  [[nodiscard]] bool ready() const noexcept { return !rule.ready || (report.ready && !timed_out); }
};

/// Everybody who pushes reports. The latest report wins; one that is older than its timeout fails
/// what its reporter reports. As Calico's HealthAggregator (libcalico-go/lib/health, v3.22 to
/// v3.32), where until the first report a reporter lives and is not ready. Pure: time is a
/// parameter, and the clock counts suspend, so whoever slept through its timeout has timed out.
class Reporters {
 public:
  /// A reporter of that name begins anew.
  void add(std::string name, ReporterRule rule, TimePoint now);
  void remove(std::string_view name);
  /// False when nobody has that name.
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
  };
  static ReporterStanding stand(const std::string& name, const Entry& entry, TimePoint now);

  std::map<std::string, Entry, std::less<>> entries_;
};

/// Live and ready of all together.
struct ReporterSummary {
  bool live = true;
  bool ready = true;
  friend bool operator==(const ReporterSummary&, const ReporterSummary&) = default;
};
ReporterSummary summarize(const std::vector<ReporterStanding>& standings) noexcept;

enum class ReportQuality : std::uint8_t { kLive, kReady };

/// What one quality of a reporter comes to as a check.
Judgement judge_reporter(const ReporterStanding& standing, ReportQuality quality);

}  // namespace wardmote::judge
