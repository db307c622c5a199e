#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "runtime/deadline.h"
#include "runtime/task.h"
#include "sim/sim_runtime.h"
#include "store/store.h"

namespace wardmote::agent {

/// A fake: a store that answers late, or refuses, when a test says so. Everything else the store
/// below it does.
class FragileStore final : public store::Store {
 public:
  FragileStore(sim::SimRuntime& host, store::Store& below) : host_(host), below_(below) {}

  /// Why keys that begin so cannot be read; nothing: they can.
  std::function<std::optional<Errc>(const std::string& begin)> unreadable =
      [](const std::string&) -> std::optional<Errc> { return std::nullopt; };
  Duration reading{};  ///< how long that takes
  std::optional<Errc> unwatchable;
  std::optional<Errc> unwritable;
  bool full = false;  ///< what it has can be removed still
  Duration writing{};
  store::TransactionLimits most;
  std::vector<store::Transaction> written;  ///< what was tried
  std::vector<TimePoint> tried;             ///< and when

  runtime::Task<Result<store::Found>> get(std::string key, runtime::Deadline deadline) override {
    auto found = co_await below_.get(std::move(key), deadline);
    co_return found;
  }
  runtime::Task<Result<store::Snapshot>> list(store::KeyRange keys,
                                              runtime::Deadline deadline) override {
    if (reading > Duration::zero()) co_await host_.sleep_until(host_.now() + reading);
    if (const auto why = unreadable(keys.begin)) co_return fail(*why, "fragile");
    auto found = co_await below_.list(std::move(keys), deadline);
    co_return found;
  }
  runtime::Task<Result<store::Committed>> put_if(store::Transaction transaction,
                                                 runtime::Deadline deadline) override {
    written.push_back(transaction);
    tried.push_back(host_.now());
    const TimePoint end = std::min(host_.now() + writing, deadline.at);
    if (writing > Duration::zero()) co_await host_.sleep_until(end);
    if (writing > Duration::zero() && end == deadline.at) co_return fail(Errc::kTimeout, "fragile");
    if (unwritable) co_return fail(*unwritable, "fragile");
    const bool puts = std::ranges::any_of(transaction.changes, [](const auto& change) {
      return std::holds_alternative<store::Put>(change);
    });
    if (full && puts) co_return fail(Errc::kExhausted, "full");
    auto done = co_await below_.put_if(std::move(transaction), deadline);
    co_return done;
  }
  std::unique_ptr<store::Watch> watch(store::KeyRange keys, store::Revision from) override {
    return std::make_unique<FragileWatch>(*this, below_.watch(std::move(keys), from));
  }
  runtime::Task<Result<store::Lease>> grant(Duration ttl, runtime::Deadline deadline) override {
    auto lease = co_await below_.grant(ttl, deadline);
    co_return lease;
  }
  runtime::Task<Result<store::Lease>> keep_alive(store::LeaseId lease,
                                                 runtime::Deadline deadline) override {
    auto kept = co_await below_.keep_alive(lease, deadline);
    co_return kept;
  }
  runtime::Task<Result<void>> revoke(store::LeaseId lease, runtime::Deadline deadline) override {
    const Result<void> revoked = co_await below_.revoke(lease, deadline);
    co_return revoked;
  }
  [[nodiscard]] store::TransactionLimits limits() const noexcept override { return most; }

 private:
  class FragileWatch final : public store::Watch {
   public:
    FragileWatch(const FragileStore& store, std::unique_ptr<store::Watch> below)
        : store_(store), below_(std::move(below)) {}
    runtime::Task<Result<store::WatchBatch>> next(runtime::Deadline deadline) override {
      if (store_.unwatchable) co_return fail(*store_.unwatchable, "fragile");
      auto batch = co_await below_->next(deadline);
      co_return batch;
    }

   private:
    const FragileStore& store_;
    std::unique_ptr<store::Watch> below_;
  };

  sim::SimRuntime& host_;
  store::Store& below_;
};

}  // namespace wardmote::agent
