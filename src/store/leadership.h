#pragma once

#include <functional>
#include <optional>
#include <string>

#include "base/time.h"
#include "store/store.h"

namespace wardmote::store {

/// Who of those that share a store may act and tell. Thread: the core loop.
class Leadership {
 public:
  Leadership() = default;
  Leadership(const Leadership&) = delete;
  Leadership& operator=(const Leadership&) = delete;
  virtual ~Leadership() = default;

  /// Whether we lead now, and work that begins now may be done: it stops at two thirds of the
  /// lease.
  [[nodiscard]] virtual bool leads() const noexcept = 0;
  /// What each write of the leader carries, so that one that comes too late changes nothing.
  [[nodiscard]] virtual std::optional<Compare> fence() const = 0;
  /// Who leads, for people; empty: nobody is known.
  [[nodiscard]] virtual std::string leader() const = 0;
  /// Calls `changed` whenever we begin to lead or do no more.
  virtual void listen(std::function<void(bool leads)> changed) = 0;
};

/// Of who shares his store with nobody.
class SoleLeadership final : public Leadership {
 public:
  [[nodiscard]] bool leads() const noexcept override { return true; }
  [[nodiscard]] std::optional<Compare> fence() const override { return std::nullopt; }
  [[nodiscard]] std::string leader() const override { return {}; }
  void listen(std::function<void(bool leads)>) override {}
};

}  // namespace wardmote::store
