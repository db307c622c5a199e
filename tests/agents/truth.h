#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "act/plan/step_executor.h"
#include "agents/fake_etcd.h"
#include "base/time.h"
#include "judge/finding.h"
#include "judge/notify/notice.h"
#include "judge/plan/remedy.h"
#include "judge/raft/member_id.h"
#include "judge/raft/repair_view.h"
#include "sim/world.h"
#include "store/clock_pair.h"

namespace wardmote::agents {

/// Which agent tells or acts, as it sees itself.
struct Doer {
  LifeId life = 0;
  bool leads = false;
  store::ClockPair clock;
};

/// What happens that a schedule may want to disturb.
enum class Point : std::uint8_t { kWins, kLooks, kActs, kTells };

/// A cluster of three, of which one member is down again and again. It outlives every agent, and
/// knows what was really done to it.
class FakeCluster {
 public:
  explicit FakeCluster(sim::World& world) : world_(world) {}

  [[nodiscard]] std::shared_ptr<const judge::plan::Remedy> look() const;
  [[nodiscard]] std::vector<judge::Finding> findings() const;
  /// A command had its effect.
  void do_it(const act::StepRequest& request);
  /// The member fails.
  void fall();

  [[nodiscard]] bool whole() const noexcept { return joined_ && !listed_; }
  [[nodiscard]] bool joined() const noexcept { return joined_; }
  [[nodiscard]] int falls() const noexcept { return falls_; }
  bool calm = false;  ///< commands do what they say

 private:
  [[nodiscard]] judge::raft::MemberId server(int fall) const;

  sim::World& world_;
  bool joined_ = true;
  bool listed_ = false;  ///< the server that the member was
  int falls_ = 0;
  int copies_ = 0;
  TimePoint fell_;
};

/// Knows what is true and hears what is said and done, and so whether that is right.
class Truth {
 public:
  Truth(sim::World& world, FakeEtcd& etcd);

  /// With WARDMOTE_SIM_STORY in the environment, prints what happens.
  void say(LifeId life, const std::string& what) const;

  // What the world does.
  void set(const std::string& root, bool fails);
  /// What is told just now may be what was true before.
  void disturbed() noexcept { disturbed_ = world_.now(); }
  void died(LifeId life) { dead_.insert(life); }
  /// From now on nobody is listened to.
  void end() noexcept { over_ = true; }

  // What agents do.
  void wins(LifeId life);
  void tells(const judge::notify::Notice& notice, const Doer& doer);
  void hears(const judge::notify::Notice& notice);
  void told(const judge::notify::Notice& notice, bool taken, LifeId life);
  void steps_in(const act::StepRequest& request, const Doer& doer, std::int64_t token);
  void steps_out(const act::StepRequest& request, LifeId life);
  void does(const act::StepRequest& request, LifeId life);

  [[nodiscard]] const std::map<std::string, TimePoint>& failing() const noexcept {
    return failing_;
  }
  /// The people know of an open incident of that number.
  [[nodiscard]] bool is_told(std::int64_t incident) const;
  [[nodiscard]] bool all_ended() const;
  /// A command that changes something is running somewhere.
  [[nodiscard]] bool anybody_inside() const noexcept { return !inside_.empty(); }
  [[nodiscard]] bool over() const noexcept { return over_; }
  void verify() const;

  FakeCluster cluster;
  std::function<void(Point, LifeId)> happens = [](Point, LifeId) {};
  std::function<std::ptrdiff_t()> leaders = [] { return 0; };  ///< how many think that they lead

 private:
  struct Message {
    LifeId sender = 0;
    std::uint64_t lead = 0;  ///< a number for each time that somebody began to lead
    bool under_way = false;
    bool in_doubt = false;  ///< it was not taken, as far as its sender knows
    int arrived = 0;
  };

  void committed(const FakeEtcd::Commit& commit) const;
  void check_item(const judge::notify::NoticeItem& item);
  [[nodiscard]] bool fails_for_long(const std::string& root) const;

  sim::World& world_;
  FakeEtcd& etcd_;
  bool over_ = false;
  TimePoint disturbed_;
  std::map<std::string, TimePoint> failing_;  ///< since when, by the root of the incident
  std::set<LifeId> dead_;
  std::map<std::string, Message> messages_;
  std::map<std::int64_t, bool> open_;  ///< what people know
  std::map<std::string, std::set<LifeId>> inside_;
  std::map<std::string, std::set<LifeId>> effective_;  ///< of these, who can do no more harm

  std::uint64_t leads_ = 0;  ///< counts how often somebody began to lead
  int in_doubt_ = 0;
  int repetitions_ = 0;
};

}  // namespace wardmote::agents
