#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "judge/finding.h"
#include "judge/raft/assess.h"

namespace wardmote::judge::raft {

/// What a detector sees in one look, with the finding that it becomes once its window has passed.
struct Condition {
  Finding finding;  ///< `since` is filled in by the docket
  /// Which thing of its code: a member's name, a listed server, "" for the whole cluster.
  std::string key;
  TimePoint shown;                 ///< when the observation began that shows it
  std::optional<TimePoint> since;  ///< if the evidence itself tells that it is older
  Window window;
  std::optional<Window> critical_after;
  bool certain = true;  ///< false: this look can neither start nor clear it
};

using Conditions = std::vector<Condition>;

/// One row of the table of which finding only repeats which other.
struct Suppression;

/// A condition with severity and windows of its catalogue row.
Condition condition(Code code, std::string key, TimePoint shown);
/// A look that can neither start nor clear the condition.
Condition uncertain(Code code, std::string key);

/// What the docket needs to know of the look that it judges.
struct Look {
  TimePoint now;
  std::chrono::milliseconds election_timer;
  /// Whether this look shows nothing of the thing with that key, so that its old conditions stay as
  /// they are.
  std::function<bool(std::string_view)> blind_to;
};

struct Ruling {
  std::vector<Finding> findings;
  std::vector<Observed> observed;
};

/// The conditions that stand, and since when. A value; as large as what stands in the last look.
class Docket {
 public:
  /// Takes one look's conditions. What is neither seen nor hidden from this look is forgotten.
  Ruling weigh(Conditions conditions, const Look& look);

  [[nodiscard]] std::size_t size() const noexcept { return cases_.size(); }

 private:
  struct Case {
    std::string key;
    Finding finding;  ///< as last seen
    TimePoint first_shown;
    TimePoint due;
    bool raised = false;
    /// When another case last explained it, if its window begins anew after that.
    std::optional<TimePoint> explained_at;
  };

  /// The cases that stand after this look, in the order of their findings.
  [[nodiscard]] std::vector<Case> gather(Conditions conditions, const Look& look) const;
  [[nodiscard]] Case proceed(Condition condition, const Look& look) const;
  static Case keep(const Case& old);
  /// What makes it only the consequence of another case; null if it stands for itself.
  [[nodiscard]] const Suppression* explanation(const Finding& finding) const noexcept;
  [[nodiscard]] const Case* find(Code code, std::string_view key) const noexcept;

  std::vector<Case> cases_;
};

}  // namespace wardmote::judge::raft
