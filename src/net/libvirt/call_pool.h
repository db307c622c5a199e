#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "net/libvirt/api.h"

namespace wardmote::net::libvirt {

/// Threads that make blocking calls, four to a connection of their own. A call that hangs holds its
/// thread, and nothing else. Threads begin when they are needed and end with the pool, or when
/// their last call returns; whoever destroys the pool does not wait for one that hangs.
/// Thread: any.
class CallPool {
 public:
  static constexpr std::size_t kThreadsEach = 4;
  /// Calls that wait for a thread; one more is refused.
  static constexpr std::size_t kMostWaiting = 4096;

  /// Whether a call has begun. One that is withdrawn before that is never made.
  class Ticket {
   public:
    bool begin() noexcept { return move_from_waiting(kBegun); }
    /// False: it has begun.
    bool withdraw() noexcept { return move_from_waiting(kWithdrawn); }

   private:
    enum State : std::uint8_t { kWaiting, kBegun, kWithdrawn };
    bool move_from_waiting(State to) noexcept {
      State waiting = kWaiting;
      return state_.compare_exchange_strong(waiting, to);
    }
    std::atomic<State> state_ = kWaiting;
  };

  /// What came of a call. `tell`, if there is one, is called when a connection that broke has been
  /// dropped: who hears of it may call again at once, and must not meet the same one.
  struct Outcome {
    bool broken = false;
    std::move_only_function<void()> tell;
  };
  /// Gets a connection, or why there is none.
  using Work = std::move_only_function<Outcome(Result<virConnect*> connection)>;

  CallPool(const Api& api, std::string uri, std::size_t connections);
  CallPool(const CallPool&) = delete;
  CallPool& operator=(const CallPool&) = delete;
  ~CallPool();

  [[nodiscard]] const Api& api() const noexcept;

  /// False when too many wait. `work` is called by a thread of the pool unless `ticket` is
  /// withdrawn first; either way it is destroyed there.
  bool submit(std::shared_ptr<Ticket> ticket, Work work);

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace wardmote::net::libvirt
