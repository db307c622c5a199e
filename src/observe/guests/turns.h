#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>

#include "base/time.h"
#include "runtime/event.h"
#include "runtime/hypervisor.h"
#include "runtime/task.h"

namespace wardmote::observe::guests {

/// Who of those that wait may ask the agent of a guest next. libvirt holds a call to an agent that
/// hangs for seconds, and a worker with it, so only so many are asked at once. Who has waited
/// longest is first, and one that comes again keeps its place, so that each is asked sooner or
/// later. Who yields, since nothing new is expected of it, has each fourth turn. Pure but for the
/// event. Thread: the core loop.
class Turns {
 public:
  using Lane = runtime::AgentLane;
  /// Places, as the pools of libvirt have threads.
  static constexpr std::size_t kFast = 8;
  static constexpr std::size_t kSlow = 16;
  /// The slow lane leaves libvirtd, which has twenty workers, some for everybody else.
  static constexpr std::size_t kMost = 18;
  /// Turns in a row that pass by those who yield.
  static constexpr int kInARow = 3;

  struct Claim {
    std::string uuid;
    Lane lane = Lane::kFast;
    bool yields = false;
    Duration keep{};  ///< how long its place is kept while it does not wait
  };

  explicit Turns(const runtime::Executor& executor) : changed_(executor) {}

  /// It waits from now on, or goes on waiting.
  void wait(const Claim& claim, TimePoint now);
  /// In which lane it has a place now, if it is its turn.
  std::optional<Lane> take(const std::string& uuid);
  /// It does not wait any more, and keeps its place among those who wait.
  void leave(const std::string& uuid, TimePoint now);
  /// A place for a question that nobody waits for, if none of those who wait could have it.
  std::optional<Lane> take_idle(const std::string& uuid);
  /// The hypervisor was asked in time, has not answered in time, and still has the call.
  void overdue(const std::string& uuid);
  /// Its call is over.
  void release(const std::string& uuid);

  [[nodiscard]] bool asks(const std::string& uuid) const { return busy_.contains(uuid); }
  [[nodiscard]] bool is_overdue(const std::string& uuid) const;
  /// Whether anything is under way or waits.
  [[nodiscard]] bool any() const noexcept { return !busy_.empty() || !waiting_.empty(); }
  /// Places became free, or time has passed.
  [[nodiscard]] runtime::Event& changed() noexcept { return changed_; }

 private:
  struct Waiting {
    Claim claim;
    TimePoint since;
    std::optional<TimePoint> forget;  ///< it does not wait now; its place is kept until then
  };
  struct Call {
    Lane lane = Lane::kFast;
    bool overdue = false;
  };
  [[nodiscard]] std::optional<Lane> free_for(Lane lane) const;
  [[nodiscard]] bool waits(Lane lane) const;
  [[nodiscard]] std::size_t count(Lane lane) const;
  [[nodiscard]] const Waiting* first(Lane lane, bool yields) const;

  std::map<std::string, Waiting> waiting_;  ///< by UUID
  std::map<std::string, Call> busy_;        ///< by UUID
  std::map<Lane, int> passed_by_;           ///< turns since one who yields had one
  runtime::Event changed_;
};

}  // namespace wardmote::observe::guests
