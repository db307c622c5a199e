#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "store/leadership.h"
#include "store/store.h"

namespace wardmote::act {

/// Leads when a test says so.
class FakeLeadership final : public store::Leadership {
 public:
  explicit FakeLeadership(bool leads = true) : leads_(leads) {}

  [[nodiscard]] bool leads() const noexcept override { return leads_; }
  [[nodiscard]] std::optional<store::Compare> fence() const override { return fence_; }
  void listen(std::function<void(bool leads)> changed) override {
    listeners_.push_back(std::move(changed));
  }

  void give_up(const Error&) override { gave_up_ = true; }
  [[nodiscard]] bool gave_up() const noexcept { return gave_up_; }

  /// The lease is lost, and this agent knows.
  void lose() {
    leads_ = false;
    for (const auto& changed : listeners_) changed(false);
  }
  /// The lease is won; each write carries this.
  void win(std::optional<store::Compare> fence = std::nullopt) {
    fence_ = std::move(fence);
    leads_ = true;
    for (const auto& changed : listeners_) changed(true);
  }
  /// From here on each write carries this. Nobody is told: it never led before.
  void set_fence(store::Compare fence) { fence_ = std::move(fence); }

 private:
  bool leads_;
  bool gave_up_ = false;
  std::optional<store::Compare> fence_;
  std::vector<std::function<void(bool leads)>> listeners_;
};

}  // namespace wardmote::act
