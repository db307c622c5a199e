#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"
#include "judge/finding.h"
#include "judge/incident/incident.h"
#include "judge/notify/matcher.h"
#include "judge/notify/muting.h"
#include "judge/notify/notice.h"
#include "judge/notify/weekly.h"

namespace wardmote::judge::notify {

/// Incidents that match go to a receiver; those with the same labels go together.
struct Route {
  std::string receiver;
  std::vector<Matcher> match;
  std::vector<std::string> group_by;
  /// how long the first notice waits for more of the same
  Duration group_wait = std::chrono::seconds(30);
  Duration group_interval = std::chrono::minutes(5);  ///< least time between two notices of a group
  /// of incidents that nobody acknowledged; 0: never
  Duration repeat_interval = std::chrono::hours(4);
  bool go_on = false;                  ///< the next routes see the incident too
  std::vector<WeeklyWindow> active{};  ///< when it tells; empty: always

  /// When it tells again, if it does not at `now`.
  [[nodiscard]] std::optional<WallTime> rests_until(WallTime now) const noexcept;
  friend bool operator==(const Route&, const Route&) = default;
};

/// `oncall{root=cluster:nb}`: the group in which an incident with these labels goes to the
/// receiver.
std::string group_name(const Route& route, const Labels& labels);

struct RetryPolicy {
  Duration first = std::chrono::seconds(10);
  int steady = 1;  ///< the first pauses have this length; then each is twice the last
  Duration longest = std::chrono::minutes(10);
  Duration give_up = std::chrono::hours(24);
};

struct RouterPolicy {
  std::vector<Route> routes;
  RetryPolicy retry;
  std::map<std::string, RetryPolicy> retries;  ///< settings of receivers that need others
  /// The name in the configuration of each receiver that has another one of its own: the members of
  /// one cluster, each of which is notified by itself.
  std::map<std::string, std::string> configured_as;
  /// Receivers that recover the single things of which they are told, as Masakari restarts an
  /// instance. Of guests in a storm they are told when it rages no more, and of nothing that has
  /// ended.
  std::set<std::string> recover{};
  /// Groups beyond this number share one group for each receiver, which says so.
  std::size_t groups = 1000;
};

/// What a receiver took and dropped: it is told anew after that time, if it still stands.
struct Dropped {
  std::set<std::int64_t> incidents;
  Duration again_in{};
};

/// Why a receiver did not take a notice.
struct Refusal {
  bool for_ever = false;  ///< sending it again would not help
  std::optional<Duration> retry_after;
  std::string reason;
  bool answered = false;  ///< the receiver said so itself: it does not have it
};

/// The name of an incident.
struct CalledAs {
  Code code{};
  std::vector<std::string> names;
  std::string summary;
  std::string root{};
  Severity severity = Severity::kInfo;  ///< the gravest that was told
  friend bool operator==(const CalledAs&, const CalledAs&) = default;
};

/// What a group knows about an incident.
struct Member {
  incident::Incident incident;
  Labels labels;
  std::uint64_t news = 0;  ///< the revision of the last step that is worth a notice
  std::uint64_t told = 0;  ///< the revision that the receiver knows
  bool begun = false;      ///< the receiver knows that it is open
  Labels known_as{};       ///< as in NoticeItem; empty until the first notice
  /// The gravest name that the receiver got for it; the end has this name.
  std::optional<CalledAs> called{};
  /// The summary of a storm that it got last, in this life of the agent.
  std::string said{};
  /// The receiver dropped what it got, in this life of the agent: until then it would again.
  std::optional<TimePoint> not_before{};
  friend bool operator==(const Member&, const Member&) = default;
};

/// Incidents that go to one receiver together. At most one notice of a group is on its way, so no
/// end can overtake its beginning.
struct Group {
  std::string id;
  std::string receiver;
  Labels labels;
  std::vector<std::string> group_by;
  bool overflow = false;
  std::uint64_t notices = 0;  ///< the number of the last notice
  std::optional<TimePoint> last_sent;
  std::optional<TimePoint> due;  ///< when to compose the next notice
  int given_up = 0;              ///< notices in a row that the receiver refused for good
  /// Its receiver is not configured: nothing is sent, and what the receiver knows is kept until
  /// then, in case it is configured again.
  std::optional<TimePoint> dormant_until;
  std::map<std::int64_t, Member> members;

  struct Pending {
    Notice notice;
    int attempts = 0;
    TimePoint since;
    TimePoint next_try;
    std::string last_refusal;
    bool under_way = false;     ///< the notice is being sent now
    bool held = false;          ///< all that is new in it was muted after it was composed
    bool may_be_there = false;  ///< an attempt ended without an answer of the receiver
    friend bool operator==(const Pending&, const Pending&) = default;
  };
  std::optional<Pending> pending;
  friend bool operator==(const Group&, const Group&) = default;
};

/// A notice that was given up.
struct DeadLetter {
  Notice notice;
  std::string reason;
  TimePoint at;
  int attempts = 0;
};

/// Decides who is notified of what, and when: each beginning and each end at least once, an end
/// never before its beginning. The sender asks take() for notices, and reports how each fared.
/// Changed groups are in take_changed(), and must be stored before the notice is sent. Pure: time
/// and chance are parameters.
class Router {
 public:
  /// How often muted incidents are checked again at least, because the wall clock may be set.
  static constexpr Duration kMutedPause = std::chrono::minutes(1);

  explicit Router(RouterPolicy policy) : policy_(std::move(policy)) {}

  /// Whether an open incident is seen now; else notices say that nobody has confirmed it.
  void ask_confirmed(std::function<bool(const incident::Incident&)> confirmed) {
    confirmed_ = std::move(confirmed);
  }
  /// Whether a storm still rages; without an answer none does.
  void ask_raging(std::function<bool(const incident::Incident&)> raging) {
    raging_ = std::move(raging);
  }
  /// Restores what an earlier run stored; a notice that was on its way is sent again.
  void recall(Group group);

  /// Replaces the policy. Follow it with consider() for each open incident.
  void reroute(RouterPolicy policy, const std::set<std::string>& receivers, TimePoint now);
  /// The receivers that are configured. Groups of others sleep for a day, and then are dropped.
  void set_receivers(const std::set<std::string>& receivers, TimePoint now);
  /// The routes, or the labels of an open incident, may be others now: receivers that should know
  /// of it and do not are notified. Those that know it already keep it.
  void consider(const incident::Incident& incident, const Labels& labels, TimePoint now);

  /// Something happened to an incident.
  void hear(const incident::Step& step, const Labels& labels, TimePoint now);
  /// After recall(): the incident may have gone on without the groups that know it, when the agent
  /// that led was ended, or led no more, between two writes.
  void catch_up(const incident::Incident& incident, TimePoint now);
  /// The name of an incident changed without a step: the next notice has the new name.
  void renew(const incident::Incident& incident);
  /// All that `receiver` knows to be wrong, in its present state.
  [[nodiscard]] std::vector<Notice> reminders(const std::string& receiver, const Muting& muting,
                                              WallTime wall_now) const;
  /// The notices to send now.
  std::vector<Notice> take(const Muting& muting, TimePoint now, WallTime wall_now);
  /// Silences or maintenance windows may have begun or ended.
  void muting_changed(TimePoint now);

  void delivered(const std::string& group, std::uint64_t number, TimePoint now,
                 const Dropped& dropped = {});
  /// `chance` is uniform over all 64 bits. Returns the dead letter if the notice is given up now.
  std::optional<DeadLetter> refused(const std::string& group, std::uint64_t number,
                                    const Refusal& refusal, TimePoint now, std::uint64_t chance);

  /// Whether a route leads what has these labels to the receiver.
  [[nodiscard]] bool leads_to(const std::string& receiver, const Labels& labels) const;
  [[nodiscard]] std::optional<TimePoint> next_due() const;
  [[nodiscard]] const std::map<std::string, Group>& groups() const noexcept { return groups_; }
  [[nodiscard]] const RouterPolicy& policy() const noexcept { return policy_; }
  /// Ids of the groups that changed or ended since the last call.
  std::set<std::string> take_changed();

 private:
  /// The groups of the routes that match.
  std::set<std::string> routed(std::int64_t incident, const Labels& labels);
  Group& group_for(const Route& route, std::int64_t incident, const Labels& labels);
  void hear_in(Group& group, const incident::Step& step, const Labels& labels, TimePoint now);
  [[nodiscard]] const Route& route_of(const Group& group) const;
  [[nodiscard]] const RetryPolicy& retry_of(const Group& group) const;
  /// When the receiver may hear of it; nothing: now.
  [[nodiscard]] std::optional<WallTime> muted_until(const Group& group, const Labels& labels,
                                                    NoticeKind kind, const Muting& muting,
                                                    WallTime wall_now) const;
  /// When to look again at what its receiver may not hear of yet; nothing: it may.
  [[nodiscard]] std::optional<TimePoint> look_again(const Group& group, const Member& member,
                                                    NoticeKind kind, const Muting& muting,
                                                    TimePoint now, WallTime wall_now) const;
  /// Whether its receiver recovers single things, and is to hear of none of them yet.
  [[nodiscard]] bool storm_holds(const Group& group, const Member& member) const;
  /// Takes out of the notice that waits what its receiver would recover, and has ended.
  void forget_ended(Group& group, TimePoint now);
  /// Of the notice that waits to be tried again: the same.
  [[nodiscard]] std::optional<WallTime> held_until(const Group& group, const Muting& muting,
                                                   WallTime wall_now) const;
  /// When a route that leads it there is active again; nothing: one is now.
  [[nodiscard]] std::optional<WallTime> rests_until(const std::string& receiver,
                                                    const Labels& labels, WallTime now) const;
  void hold(Group& group, TimePoint now, Duration time);
  /// Nothing when there is nothing to send.
  std::optional<Notice> compose(Group& group, const Muting& muting, TimePoint now,
                                WallTime wall_now);
  /// Merged into an incident that the receiver knows, too: that one is repeated.
  [[nodiscard]] bool goes_on_elsewhere(const Group& group, const Member& member) const;
  /// As in NoticeItem, of an incident about which the group has sent nothing.
  [[nodiscard]] Labels labels_for(const Group& group, std::int64_t incident,
                                  const Labels& labels) const;
  /// After a notice: when the next one is due.
  void plan(Group& group, TimePoint now);
  void rest(Group& group, TimePoint now);
  static void fall_asleep(Group& group, TimePoint now);
  void wake(Group& group, TimePoint now);
  /// How the receiver is called in the configuration.
  [[nodiscard]] const std::string& configured_name(const std::string& receiver) const;

  RouterPolicy policy_;
  std::function<bool(const incident::Incident&)> confirmed_;
  std::function<bool(const incident::Incident&)> raging_;
  std::map<std::string, Group> groups_;
  std::set<std::string> changed_;
};

}  // namespace wardmote::judge::notify
