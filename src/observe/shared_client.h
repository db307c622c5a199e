#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "base/result.h"
#include "base/time.h"
#include "judge/observation.h"
#include "runtime/deadline.h"
#include "runtime/event.h"
#include "runtime/runtime.h"
#include "runtime/task.h"

namespace wardmote::observe {

/// One connection to a daemon for all checks that ask it in the same way. They take turns; a check
/// that probes while another probe is under way gets the result of that probe. Otherwise the checks
/// of a stopped daemon would fill its listen queue. Its users hold it through Runtime::shared().
/// `Client` has Snapshot, look(), cost(), holder(), drop() and set_fresh_every(). Life cycle: the
/// prober holds it until the probe has ended; the runtime outlives it. Thread: the core loop.
template <class Client>
class SharedClient : public std::enable_shared_from_this<SharedClient<Client>> {
 public:
  using Snapshot = typename Client::Snapshot;
  struct Seen {
    Result<Snapshot> snapshot;
    judge::Cost cost;          ///< nothing when the result is that of another check's probe
    std::uint32_t holder = 0;  ///< the process that holds the socket; 0 when unknown
  };

  /// `make` creates a client; each of its users gets a new connection every `fresh_every`th probe.
  template <class Make>
  SharedClient(runtime::Runtime& runtime, unsigned fresh_every, Make make)
      : runtime_(runtime),
        make_(std::move(make)),
        client_(make_()),
        fresh_every_(fresh_every),
        over_(runtime.executor()) {}

  runtime::Task<Seen> look(runtime::Deadline deadline) {
    const Duration patience = deadline.left(runtime_.now());
    while (under_way_ != nullptr) {
      const std::shared_ptr<Look> other = under_way_;
      if (other->deadline.at > deadline.at) {
        Seen alone = co_await look_alone(deadline);
        co_return alone;
      }
      ++other->guests;
      while (!other->over) co_await over_.wait();
      const bool told = other->seen && (other->seen->snapshot || other->patience >= patience ||
                                        other->seen->snapshot.error().code != Errc::kTimeout);
      if (told) {
        --other->guests;
        Seen seen{take(*other), {}, other->seen->holder};
        co_return seen;
      }
      // The other probe was cancelled, or gave the daemon less time than this one does.
    }
    Seen seen = co_await lead(deadline, patience);
    co_return seen;
  }

 private:
  struct Look {
    runtime::Deadline deadline;
    Duration patience{};
    std::size_t guests = 0;  ///< the checks that wait for the result
    bool over = false;
    std::optional<Seen> seen;  ///< nothing when the probe was cancelled
  };

  /// On every way out, the next probe can begin.
  class Turn {
   public:
    Turn(SharedClient& shared, std::shared_ptr<Look> look)
        : shared_(shared), look_(std::move(look)) {
      shared_.under_way_ = look_;
    }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    ~Turn() {
      // The rest of an interrupted exchange would be taken for the answer to the next one.
      if (!look_->seen) shared_.client_.drop();
      look_->over = true;
      shared_.under_way_.reset();
      shared_.over_.notify();
    }

   private:
    SharedClient& shared_;
    std::shared_ptr<Look> look_;
  };

  runtime::Task<Seen> lead(runtime::Deadline deadline, Duration patience) {
    const auto look = std::make_shared<Look>(Look{deadline, patience, 0, false, std::nullopt});
    const Turn turn(*this, look);
    const long users = std::max(1L, this->weak_from_this().use_count());
    client_.set_fresh_every(fresh_every_ * static_cast<unsigned>(users));
    Result<Snapshot> snapshot = co_await client_.look(deadline);
    look->seen.emplace(Seen{std::move(snapshot), client_.cost(), client_.holder()});
    Seen seen{take(*look), look->seen->cost, look->seen->holder};
    co_return seen;
  }

  /// For a check that has less time than the probe under way.
  runtime::Task<Seen> look_alone(runtime::Deadline deadline) {
    Client client = make_();
    Result<Snapshot> snapshot = co_await client.look(deadline);
    Seen seen{std::move(snapshot), client.cost(), client.holder()};
    co_return seen;
  }

  /// The last check that waits needs no copy.
  static Result<Snapshot> take(Look& look) {
    if (look.guests == 0) return std::move(look.seen->snapshot);
    return look.seen->snapshot;
  }

  runtime::Runtime& runtime_;
  std::move_only_function<Client()> make_;
  Client client_;
  unsigned fresh_every_;
  std::shared_ptr<Look> under_way_;
  runtime::Event over_;
};

}  // namespace wardmote::observe
