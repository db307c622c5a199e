#pragma once

#include <functional>
#include <optional>

#include "act/failover/pair_manager.h"
#include "store/leadership.h"
#include "store/store.h"

namespace wardmote::act::failover {

/// Whether the manager leads now, by whichever time in the election.
class PairManager::Leader final : public store::Leadership {
 public:
  explicit Leader(const PairManager& manager) : manager_(manager) {}

  [[nodiscard]] bool leads() const noexcept override { return manager_.leads(); }
  [[nodiscard]] std::optional<store::Compare> fence() const override {
    return manager_.election_ ? manager_.election_->fence() : std::nullopt;
  }
  /// The manager looks again by itself.
  void listen(std::function<void(bool leads)>) override {}

 private:
  const PairManager& manager_;
};

}  // namespace wardmote::act::failover
