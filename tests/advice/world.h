#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "advice/agent.h"
#include "advice/cluster.h"
#include "base/time.h"
#include "judge/plan/machine.h"
#include "judge/plan/plan.h"
#include "judge/raft/assess.h"
#include "judge/raft/member_id.h"
#include "judge/raft/repair/repair_plan.h"
#include "runtime/random.h"

namespace wardmote::advice {

/// One random world: a cluster to which things happen, agents that look at it, and the truth.
/// Everything comes from the seed.
class World {
 public:
  explicit World(std::uint64_t seed);
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  /// Plays it to its end, or to the first fault, which it returns.
  std::optional<std::string> play();
  /// What happened until now, a line each.
  [[nodiscard]] std::string story() const;
  [[nodiscard]] std::uint64_t trace() const noexcept { return trace_; }

 private:
  using Happening = std::function<void()>;

  // world.cc
  void make_agents();
  AgentSetup make_setup(std::size_t number);
  void cross(AgentSetup& setup);
  judge::raft::Expectation make_expectation();
  std::vector<judge::plan::Policy> make_policies(bool acts);
  void run_until(TimePoint end);
  void heal();
  void tell(std::string_view line);
  void at(Duration in, Happening happening);
  void note_fault(const Agent& agent, std::string_view about, std::optional<std::string> fault);
  judge::plan::Effect act(const Agent& agent, const RepairPlan& plan, StepKind kind);
  judge::plan::Effect run_there(const Agent& agent, const RepairPlan& plan, StepKind kind);

  // scene.cc: what chance alone brings about too seldom.
  void choose_stranger();
  void hide_stranger(AgentSetup& setup);
  [[nodiscard]] Duration stage();
  void lose_stranger(HostIndex leads);
  void lose_stranger_at_rest(HostIndex leads);
  void expel_beside_stranger(HostIndex leads);
  void restore(HostIndex host);
  bool reboot_double();
  void meet_delay(const Agent& agent, const RepairPlan& plan, Duration time);
  void come_back(const Agent& agent, const std::string& member);
  void swap_back(const judge::raft::MemberId& server);

  // rare.cc: what needs several things to meet.
  enum class Rarity : std::uint8_t {
    kReturn,
    kCopiedLine,
    kOneConnection,
    kStalledGhost,
    kSeenElsewhere,
    kStoppedElsewhere,
    kTakenAddress,
    kMovedAddress,
    kMovedDisk,
    kCalledByStrangers,
    kServedElsewhere,
    kPassedUnseen,
    kPutBack,
    kLeadsAlone,
    kRemovalUndone,
    kSlowJoin,
    kGhostOfStranger,
    kExpelledBeside,
    kDoubleOfGhost,
    kTakenPath,
    kStolenAddress
  };
  void choose_rarity();
  [[nodiscard]] bool is_checked() const;
  void prepare_rarity();
  void ask_others_by_tcp(AgentSetup& setup);
  [[nodiscard]] Duration stage_rarity();
  void stop_for_long();
  void come_back_unheard(HostIndex host);
  void stop_behind_a_copied_line();
  void tie_by_one_connection(HostIndex leads);
  void leave_a_ghost_and_stall(HostIndex leads);
  void cut_off_from_servers_only();
  void cut_off(HostIndex host, bool cut);
  void stop_where_only_a_check_looks();
  void let_checks_lead_elsewhere();
  HostIndex join_at_its_address();
  void lead_past(HostIndex host);
  void take_its_address();
  void move_its_address();
  void move_its_disk();
  void join_where_strangers_call();
  void serve_elsewhere();
  void pass_unseen();
  [[nodiscard]] bool shares_four_digits(HostIndex host) const;
  void lead_alone();
  void undo_removal(HostIndex leads);

  // joins.cc: servers that join, and what they leave behind.
  void join_slowly();
  void leave_a_ghost_and_reboot();
  void replace_beside_a_double();
  void expect_a_newcomer();
  void take_its_path();
  void steal_its_address();
  [[nodiscard]] bool can_do_without(HostIndex a, HostIndex b) const;
  [[nodiscard]] HostIndex double_of_subject() const noexcept { return subject_ == 1 ? 2 : 1; }

  // put_back.cc: disks of a majority go back to an older copy.
  void put_disks_back();
  HostIndex join_beside(HostIndex host);
  [[nodiscard]] bool all_see_logs_of_others(HostIndex host);
  [[nodiscard]] Duration rarely_between(std::int64_t low_s, std::int64_t high_s);

  // fate.cc: what happens.
  void happen();
  void happen_to_a_host();
  void happen_to_the_network();
  void happen_to_an_agent();
  void reboot(HostIndex host, Duration time);
  void restart(HostIndex host);
  void restart(Agent& agent);
  void hang(HostIndex host);
  void crash_loop(HostIndex host);
  void wipe(HostIndex host);
  void replace(HostIndex host);
  void lose(HostIndex host);
  void damage(HostIndex host);
  void decommission(HostIndex host);
  void detach(HostIndex host);
  void stall(HostIndex host, Duration time);
  void kick_the_dead();
  void cut(HostIndex a, HostIndex b, bool one_way, Duration time);
  void shut_out(HostIndex host);
  void wall_in(const Agent& agent, HostIndex host);
  void fail_power();
  void isolate(HostIndex host);
  [[nodiscard]] bool is_cut_somewhere(HostIndex host);
  void hide(Agent& agent, HostIndex host, Duration time);
  [[nodiscard]] Duration some_time();
  /// For what an agent can notice however long it lasts.
  [[nodiscard]] Duration any_time();
  [[nodiscard]] Duration some_time(HostIndex host);
  [[nodiscard]] bool all_know(HostIndex host) const;
  [[nodiscard]] std::optional<HostIndex> pick_well();
  [[nodiscard]] bool is_spare(HostIndex host) const;
  [[nodiscard]] bool can_lose(HostIndex host) const;
  [[nodiscard]] Duration between(std::int64_t low_s, std::int64_t high_s);
  Agent& some_agent() { return *agents_[random_.below(agents_.size())]; }

  std::uint64_t seed_;
  runtime::Random random_;
  /// For what only some worlds have, so that all the others stay the same when one is added.
  runtime::Random rare_;
  Cluster cluster_;
  bool ages_ = true;
  bool healed_ = false;  ///< nothing happens any more
  /// A host of the cluster of which no agent was told.
  std::optional<HostIndex> stranger_;
  std::optional<Rarity> rarity_;
  HostIndex subject_ = 0;  ///< to which the rarity happens
  TimePoint begun_;
  std::vector<std::unique_ptr<Agent>> agents_;
  std::multimap<TimePoint, Happening> future_;
  std::map<HostIndex, TimePoint> busy_;  ///< until when something happens to it
  std::vector<std::string> story_;
  std::optional<std::string> fault_;
  std::uint64_t trace_ = 0;
};

}  // namespace wardmote::advice
