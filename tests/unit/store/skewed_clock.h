#pragma once
// A process whose clock runs at another rate than that of the store.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "base/time.h"
#include "runtime/deadline.h"
#include "runtime/runtime.h"
#include "runtime/task.h"
#include "sim/sim_runtime.h"
#include "store/store.h"

namespace wardmote::store {

/// Counts `rate` seconds in each second of the world.
class SkewedRuntime final : public runtime::Runtime {
 public:
  SkewedRuntime(sim::SimRuntime& host, double rate)
      : host_(host), rate_(rate), begun_(host.now()) {}

  [[nodiscard]] TimePoint now() const noexcept override {
    return begun_ + scaled(host_.now() - begun_, rate_);
  }
  /// When that moment of this clock is in the world.
  [[nodiscard]] TimePoint in_the_world(TimePoint at) const noexcept {
    if (at == TimePoint::max()) return at;
    // Rounding must not make it too early.
    return begun_ + scaled(at - begun_, 1 / rate_) + Duration(1000);
  }
  runtime::Task<void> sleep_until(TimePoint at) override {
    co_await host_.sleep_until(in_the_world(at));
  }
  [[nodiscard]] WallTime wall_now() const noexcept override { return host_.wall_now(); }
  [[nodiscard]] std::string_view boot() const noexcept override { return host_.boot(); }
  [[nodiscard]] runtime::Executor executor() noexcept override { return host_.executor(); }
  std::uint64_t random() noexcept override { return host_.random(); }
  runtime::Task<Result<std::unique_ptr<runtime::Stream>>> connect(runtime::Endpoint,
                                                                  runtime::Deadline) override {
    co_return fail(Errc::kInternal, "not here");
  }
  Result<std::unique_ptr<runtime::Listener>> listen(runtime::Endpoint) override {
    return fail(Errc::kInternal, "not here");
  }
  runtime::Task<Result<std::unique_ptr<runtime::Datagrams>>> open_datagrams(
      runtime::DatagramTarget, runtime::Deadline) override {
    co_return fail(Errc::kInternal, "not here");
  }
  runtime::Processes& processes() noexcept override { return host_.processes(); }
  runtime::Files& files() noexcept override { return host_.files(); }

 private:
  static Duration scaled(Duration time, double by) noexcept {
    return Duration(static_cast<Duration::rep>(static_cast<double>(time.count()) * by));
  }

  sim::SimRuntime& host_;
  const double rate_;
  const TimePoint begun_;
};

/// A store, asked by that process: it counts by the clock of the world. It can be cut off.
class SkewedStore final : public Store {
 public:
  SkewedStore(Store& store, const SkewedRuntime& clock) : store_(store), clock_(clock) {}

  void cut() noexcept { cut_ = true; }

  runtime::Task<Result<Found>> get(std::string key, runtime::Deadline deadline) override {
    if (cut_) co_return away();
    Result<Found> found = co_await store_.get(std::move(key), there(deadline));
    co_return found;
  }
  runtime::Task<Result<Snapshot>> list(KeyRange keys, runtime::Deadline deadline) override {
    if (cut_) co_return away();
    Result<Snapshot> found = co_await store_.list(std::move(keys), there(deadline));
    co_return found;
  }
  runtime::Task<Result<Committed>> put_if(Transaction transaction,
                                          runtime::Deadline deadline) override {
    if (cut_) co_return away();
    Result<Committed> put = co_await store_.put_if(std::move(transaction), there(deadline));
    co_return put;
  }
  std::unique_ptr<Watch> watch(KeyRange keys, Revision from) override {
    return std::make_unique<SkewedWatch>(*this, store_.watch(std::move(keys), from));
  }
  runtime::Task<Result<Lease>> grant(Duration ttl, runtime::Deadline deadline) override {
    if (cut_) co_return away();
    Result<Lease> lease = co_await store_.grant(ttl, there(deadline));
    co_return lease;
  }
  runtime::Task<Result<Lease>> keep_alive(LeaseId id, runtime::Deadline deadline) override {
    if (cut_) co_return away();
    Result<Lease> lease = co_await store_.keep_alive(id, there(deadline));
    co_return lease;
  }
  runtime::Task<Result<void>> revoke(LeaseId lease, runtime::Deadline deadline) override {
    if (cut_) co_return away();
    Result<void> revoked = co_await store_.revoke(lease, there(deadline));
    co_return revoked;
  }

 private:
  class SkewedWatch final : public Watch {
   public:
    SkewedWatch(SkewedStore& store, std::unique_ptr<Watch> watch)
        : store_(store), watch_(std::move(watch)) {}
    runtime::Task<Result<WatchBatch>> next(runtime::Deadline deadline) override {
      if (store_.cut_) co_return away();
      Result<WatchBatch> batch = co_await watch_->next(store_.there(deadline));
      co_return batch;
    }

   private:
    SkewedStore& store_;
    std::unique_ptr<Watch> watch_;
  };

  static std::unexpected<Error> away() { return fail(Errc::kClosed, "cut off"); }
  [[nodiscard]] runtime::Deadline there(runtime::Deadline deadline) const noexcept {
    return {clock_.in_the_world(deadline.at)};
  }

  Store& store_;
  const SkewedRuntime& clock_;
  bool cut_ = false;
};

}  // namespace wardmote::store
