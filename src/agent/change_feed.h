#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <deque>
#include <functional>
#include <initializer_list>
#include <string_view>
#include <vector>

#include "base/log.h"
#include "base/time.h"
#include "judge/change.h"
#include "judge/finding.h"

namespace wardmote::agent {

/// Where everything that changes is told once, and from where it goes to the log and to every
/// listener, in one order. Life cycle: one for the agent, outlives the board; listeners are added
/// before anything is told, and what they borrow outlives it. Thread: the core loop.
class ChangeFeed {
 public:
  /// What the board shows already includes the change. A listener may tell of further changes:
  /// they come after this one, for everybody.
  using Listener = std::function<void(const judge::Change& change)>;

  explicit ChangeFeed(std::function<WallTime()> clock) : clock_(std::move(clock)) {}

  void listen(Listener listener) { listeners_.push_back(std::move(listener)); }

  /// Logs one line, `kind` and `fields`, and tells the listeners. The first field names the
  /// subject: its key is the scope. The other fields are the change's data, with `more` added or
  /// put in their place.
  void tell(LogLevel level, std::string_view kind, std::initializer_list<LogField> fields,
            boost::json::object more = {}, const judge::Finding* finding = nullptr);

  /// Of the last change; 0 before the first.
  [[nodiscard]] std::uint64_t last() const noexcept { return last_; }
  [[nodiscard]] WallTime wall_now() const { return clock_(); }

 private:
  std::function<WallTime()> clock_;
  std::vector<Listener> listeners_;
  std::uint64_t last_ = 0;
  std::deque<judge::Change> untold_;
  bool telling_ = false;
};

}  // namespace wardmote::agent
