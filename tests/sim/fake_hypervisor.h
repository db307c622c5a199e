#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "runtime/deadline.h"
#include "runtime/event.h"
#include "runtime/hypervisor.h"
#include "runtime/runtime.h"
#include "runtime/task.h"
#include "runtime/task_group.h"

namespace wardmote::sim {

class FakeHypervisor;

/// A fake host with guests. It outlives agents and their connections, as a real one does.
class FakeHost {
 public:
  enum class Agent : std::uint8_t {
    kAnswers,
    kHangs,   ///< the port is open, and nobody reads
    kClosed,  ///< nobody has the port open
  };
  struct Guest {
    std::string name;
    int run = 1;     ///< virDomainState
    int reason = 1;  ///< of that state
    int process = 1;
    bool channel = true;  ///< it has one for an agent
    Agent agent = Agent::kAnswers;
    double cpu_share = 0.003;        ///< of one CPU
    double requests_per_second = 0;  ///< of its disks
    Duration answers_in{};           ///< its agent
    TimePoint held_until;            ///< somebody else's command holds the agent
    bool frozen = false;             ///< its file systems
    Duration clock_ahead{};          ///< of the host's
    int full_percent = 50;           ///< of its only file system
    std::string metadata;            ///< below `metadata` of its description
    bool persistent = true;          ///< it stays defined when it is off
    std::string job;                 ///< what is being done to it
    // Since it began, up to `counted`.
    Duration cpu = std::chrono::seconds(1);
    double requests = 100;
    TimePoint counted;
  };
  enum class Daemon : std::uint8_t {
    kAnswers,
    kGone,   ///< connections end, and new ones are refused
    kHangs,  ///< nothing is answered, and connections stay
  };

  /// What somebody did to a guest through a door.
  struct Act {
    TimePoint at;
    std::string what;  ///< `nmi`, `destroy`, `create`
    std::string uuid;
    int process = -1;  ///< that it was done to
  };

  explicit FakeHost(runtime::Runtime& clock) : clock_(clock) {}

  /// STARTED; its agent answers at once.
  Guest& start(const std::string& uuid, const std::string& name);
  /// STOPPED with this detail, and it is gone from the list. A persistent one stays defined.
  void stop(const std::string& uuid, int detail);
  void pause(const std::string& uuid, int suspended, int reason);
  void resume(const std::string& uuid);
  /// REBOOT, as often as QEMU tells of it; nobody answers until set_agent().
  void reboot(const std::string& uuid);
  /// The port of the agent opens and closes with it, and that is told.
  void set_agent(const std::string& uuid, Agent agent);
  void set_activity(const std::string& uuid, double cpu_share, double requests_per_second);
  void set_daemon(Daemon daemon);
  /// How long libvirt itself waits for an agent that hangs.
  void set_patience(Duration patience) noexcept { patience_ = patience; }
  /// How many agents are asked at once in each lane; the rest wait in their order.
  static constexpr std::size_t kFastAtOnce = 8;
  static constexpr std::size_t kSlowAtOnce = 16;
  void tell(runtime::HypervisorEvent event);

  [[nodiscard]] Guest& at(const std::string& uuid) { return guests_.at(uuid); }
  [[nodiscard]] const std::map<std::string, Guest>& guests() const noexcept { return guests_; }
  /// A guest that is off; null: there is none of this UUID.
  [[nodiscard]] const Guest* off(const std::string& uuid) const;
  [[nodiscard]] const std::vector<Act>& acts() const noexcept { return acts_; }
  /// Called at the moment at which something is done to a guest, before it has an effect.
  std::function<void(const Act&)> on_act;
  /// How long an act takes, and whether whoever asked hears of its end.
  void set_acts(Duration take, bool answered) {
    acts_take_ = take;
    acts_answered_ = answered;
  }
  [[nodiscard]] std::uint64_t pings() const noexcept { return pings_; }
  /// When agents were asked for something else, and for what.
  [[nodiscard]] const std::vector<std::pair<TimePoint, std::string>>& inquiries() const noexcept {
    return inquiries_;
  }

 private:
  friend class FakeHypervisor;
  void count(Guest& guest) const;
  [[nodiscard]] std::string reply_of(const Guest& guest, const std::string& command) const;
  void tell_of(const std::string& uuid, decltype(runtime::HypervisorEvent::what) what);

  runtime::Runtime& clock_;
  std::map<std::string, Guest> guests_;
  std::map<std::string, Guest> off_;  ///< defined, and off
  int processes_ = 0;
  std::vector<Act> acts_;
  Duration acts_take_ = std::chrono::milliseconds(50);
  bool acts_answered_ = true;
  Daemon daemon_ = Daemon::kAnswers;
  Duration patience_{};
  std::uint64_t pings_ = 0;
  std::vector<std::pair<TimePoint, std::string>> inquiries_;
  std::set<FakeHypervisor*> connected_;
};

/// The door to such a host.
class FakeHypervisor final : public runtime::Hypervisor {
 public:
  FakeHypervisor(runtime::Runtime& runtime, FakeHost& host);
  ~FakeHypervisor() override;

  void start() override;
  runtime::Task<void> stop() override;
  runtime::Task<std::vector<runtime::HypervisorEvent>> events() override;
  runtime::Task<Result<std::vector<runtime::GuestEntry>>> list(runtime::Deadline deadline) override;
  runtime::Task<Result<std::string>> describe(std::string uuid,
                                              runtime::Deadline deadline) override;
  runtime::Task<Result<void>> knock(runtime::Deadline deadline) override;
  runtime::Task<Result<runtime::AgentAnswer>> ask_agent(runtime::AgentOrder order,
                                                        runtime::Deadline begun_by) override;
  runtime::Task<Result<runtime::GuestCounts>> counts(std::string uuid, bool ask_qemu,
                                                     runtime::Deadline deadline) override;
  runtime::Task<Result<runtime::GuestStanding>> standing(std::string uuid,
                                                         runtime::Deadline deadline) override;
  runtime::Task<Result<void>> inject_nmi(std::string uuid, int id,
                                         runtime::Deadline deadline) override;
  runtime::Task<Result<void>> destroy(std::string uuid, int id,
                                      runtime::Deadline deadline) override;
  runtime::Task<Result<void>> create(std::string uuid, runtime::Deadline deadline) override;

  void hear(runtime::HypervisorEvent event);
  /// The guest answers again, and with it a call that nobody waits for any more.
  void end_call_of(const std::string& uuid);

 private:
  runtime::Task<Result<void>> reach(runtime::Deadline deadline);
  runtime::Task<Result<runtime::AgentAnswer>> ask(runtime::AgentOrder order, TimePoint begun);
  runtime::Task<void> end_call(std::string uuid, TimePoint at);
  class Place;
  struct Crowd {
    std::deque<std::uint64_t> waiting;
    std::size_t busy = 0;
  };
  [[nodiscard]] bool has_room(Lane lane);
  /// Whether the guest is as the caller has it when the act begins.
  runtime::Task<Result<void>> begin_act(std::string what, std::string uuid, int id,
                                        runtime::Deadline deadline);
  runtime::Task<Result<void>> end_act(runtime::Deadline deadline);

  runtime::Runtime& runtime_;
  FakeHost& host_;
  std::map<std::string, TimePoint> under_way_;  ///< until when libvirt waits for their agents
  std::map<Lane, Crowd> crowds_;
  std::map<std::string, std::function<void()>> left_;  ///< ends of calls that nobody waits for
  runtime::TaskGroup ending_;                          ///< them
  std::uint64_t calls_ = 0;
  std::deque<runtime::HypervisorEvent> told_;
  runtime::Event changed_;
};

}  // namespace wardmote::sim
