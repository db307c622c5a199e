#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/time.h"
#include "judge/incident/incident.h"
#include "judge/notify/matcher.h"
#include "judge/notify/muting.h"
#include "judge/notify/notice.h"

namespace wardmote::judge::notify {

/// What matches goes to a receiver, together with what has the same labels.
struct Route {
  std::string receiver;
  std::vector<Matcher> match;
  std::vector<std::string> group_by;
  Duration group_wait = std::chrono::seconds(30);     ///< for more of the same, at first
  Duration group_interval = std::chrono::minutes(5);  ///< between two notices of a group, at least
  Duration repeat_interval = std::chrono::hours(4);   ///< of what nobody acknowledged; 0: never
  bool go_on = false;                                 ///< look at the next route too
  friend bool operator==(const Route&, const Route&) = default;
};

struct RetryPolicy {
  Duration first = std::chrono::seconds(10);
  int steady = 1;  ///< pauses of this length, before each is twice the last
  Duration longest = std::chrono::minutes(10);
  Duration give_up = std::chrono::hours(24);
};

struct RouterPolicy {
  std::vector<Route> routes;
  RetryPolicy retry;
  std::map<std::string, RetryPolicy> retries;  ///< of receivers that want another
  /// More groups than this go into one of each receiver, which says so.
  std::size_t groups = 1000;
};

/// Why a notice was not taken.
struct Refusal {
  bool for_ever = false;  ///< to send it again would not help
  std::optional<Duration> retry_after;
  std::string reason;
};

/// What a group knows of an incident.
struct Member {
  incident::Incident incident;
  Labels labels;
  std::uint64_t news = 0;  ///< the revision of the last step that is worth a notice
  std::uint64_t told = 0;  ///< of which the receiver knows
  bool begun = false;      ///< the receiver knows that it is open
};

/// Incidents that one receiver hears of together. At most one notice of a group is on its way, so
/// no end can overtake its beginning.
struct Group {
  std::string id;
  std::string receiver;
  Labels labels;
  std::vector<std::string> group_by;
  bool overflow = false;
  std::uint64_t notices = 0;  ///< the last one's number
  std::optional<TimePoint> last_sent;
  std::optional<TimePoint> due;  ///< when the next notice is to be composed
  std::map<std::int64_t, Member> members;

  struct Pending {
    Notice notice;
    int attempts = 0;
    TimePoint since;
    TimePoint next_try;
    std::string last_refusal;
    bool under_way = false;  ///< somebody sends it now
  };
  std::optional<Pending> pending;
};

/// A notice that was given up.
struct DeadLetter {
  Notice notice;
  std::string reason;
  TimePoint at;
  int attempts = 0;
};

/// Decides who hears of what, and when: each beginning and each end at least once, an end never
/// before its beginning. Whoever sends asks take() for notices, and says how each fared. What
/// changed is in take_changed(), to be written down before it is sent. Pure: time and chance are
/// parameters.
class Router {
 public:
  explicit Router(RouterPolicy policy) : policy_(std::move(policy)) {}

  /// What an earlier life wrote down; a notice that was on its way is sent again.
  void recall(Group group);

  /// Another policy holds from now on. What receivers that are not among `receivers` were to hear
  /// is forgotten; the others go on where they are.
  void reroute(RouterPolicy policy, const std::set<std::string>& receivers, TimePoint now);

  /// Something happened to an incident.
  void hear(const incident::Step& step, const Labels& labels, TimePoint now);
  /// What is to be sent now.
  std::vector<Notice> take(const Muting& muting, TimePoint now, WallTime wall_now);
  /// What may be muted no longer, or is now.
  void muting_changed(TimePoint now);

  void delivered(const std::string& group, std::uint64_t number, TimePoint now);
  /// `chance` is uniform over all 64 bits. The letter that is dead now, if it is.
  std::optional<DeadLetter> refused(const std::string& group, std::uint64_t number,
                                    const Refusal& refusal, TimePoint now, std::uint64_t chance);

  [[nodiscard]] std::optional<TimePoint> next_due() const;
  [[nodiscard]] const std::map<std::string, Group>& groups() const noexcept { return groups_; }
  /// Ids of the groups that changed, or are gone, since it was asked last.
  std::set<std::string> take_changed();

 private:
  Group& group_for(const Route& route, std::int64_t incident, const Labels& labels);
  void hear_in(Group& group, const incident::Step& step, const Labels& labels, TimePoint now);
  [[nodiscard]] const Route& route_of(const Group& group) const;
  [[nodiscard]] const RetryPolicy& retry_of(const Group& group) const;
  /// Nothing when there is nothing to tell.
  std::optional<Notice> compose(Group& group, const Muting& muting, TimePoint now,
                                WallTime wall_now);
  /// After a notice: when the next is due.
  void plan(Group& group, TimePoint now);
  void rest(Group& group, TimePoint now);

  RouterPolicy policy_;
  std::map<std::string, Group> groups_;
  std::set<std::string> changed_;
};

}  // namespace wardmote::judge::notify
