#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <utility>
#include <vector>

#include "base/time.h"
#include "judge/change.h"
#include "judge/thing.h"
#include "serve/change_text.h"

namespace wardmote::incidents {

/// Where everything that changes is told once, and from where it goes to the log and to every
/// listener, in one order. Life cycle: one for the agent, outlives the board; listeners are added
/// before anything is told, and what they borrow outlives it. Thread: the core loop.
class ChangeFeed {
 public:
  /// What the board shows already includes the change. A listener may tell of further changes:
  /// they come after this one, for everybody.
  using Listener = std::function<void(const judge::Change& change, const serve::ChangeText& text)>;

  explicit ChangeFeed(std::function<WallTime()> clock) : clock_(std::move(clock)) {}

  void listen(Listener listener) { listeners_.push_back(std::move(listener)); }

  /// Logs one line, and tells the listeners.
  void tell(judge::ThingId of, judge::Event event);
  /// A finding that was told of stands, perhaps with other numbers. That is no change: only who
  /// says what is wrong now needs it.
  void restate(judge::ThingId of, judge::FindingChanged finding);
  void listen_restated(std::function<void(const judge::Change& change)> listener) {
    restated_ = std::move(listener);
  }

  /// Of the last change; 0 before the first.
  [[nodiscard]] std::uint64_t last() const noexcept { return last_; }

 private:
  struct Untold {
    judge::Change change;
    serve::ChangeText text;
  };

  std::function<WallTime()> clock_;
  std::vector<Listener> listeners_;
  std::function<void(const judge::Change&)> restated_ = [](const judge::Change&) {};
  std::uint64_t last_ = 0;
  std::deque<Untold> untold_;
  bool telling_ = false;
};

}  // namespace wardmote::incidents
