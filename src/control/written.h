#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "runtime/event.h"
#include "runtime/task.h"

namespace wardmote::control {

/// Whether what was ordered is on stable storage: whoever took the order says so, and whoever
/// answers it waits. Thread: the core loop.
class Written {
 public:
  explicit Written(const runtime::Executor& executor) : event_(executor) {}

  /// Until it is known. Why it is not written down; nothing: it is.
  runtime::Task<std::optional<std::string>> wait() {
    while (!done_) co_await event_.wait();
    co_return complaint_;
  }
  void done(std::optional<std::string> complaint) {
    done_ = true;
    complaint_ = std::move(complaint);
    event_.notify();
  }
  /// It does not hold, and never will.
  void lost(std::string why) {
    fate_ = Fate::kLost;
    done(std::move(why));
  }
  /// It cannot be done as things are now, so that it was not written.
  void refused(std::string why) {
    fate_ = Fate::kRefused;
    done(std::move(why));
  }
  /// It was being written when the right to write was lost.
  void unsure(std::string why) {
    fate_ = Fate::kUnsure;
    done(std::move(why));
  }
  enum class Fate : std::uint8_t { kHolds, kUnsure, kLost, kRefused };
  [[nodiscard]] Fate fate() const noexcept { return fate_; }

 private:
  runtime::Event event_;
  bool done_ = false;
  Fate fate_ = Fate::kHolds;
  std::optional<std::string> complaint_;
};

}  // namespace wardmote::control
