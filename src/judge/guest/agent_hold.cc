#include "judge/guest/agent_hold.h"

#include "base/time.h"

namespace wardmote::judge::guest {

using namespace std::chrono_literals;

namespace {

/// libvirt says a little after its timeout that nobody answered.
constexpr Duration kSlack = 200ms;

}  // namespace

void AgentHold::asked(TimePoint at, bool alive) noexcept {
  // The one before it ended as one does that an agent lets hang: nobody else has it any more.
  if (behind_ && alive) since_.reset();
  asked_ = at;
  behind_ = since_.has_value() && alive;
}

void AgentHold::still_asked(TimePoint now, Duration timeout) noexcept {
  if (!asked_ || now - *asked_ <= kPatience + timeout + kSlack) return;
  if (!since_) since_ = asked_;
  behind_ = false;
}

AgentHold::State AgentHold::state(TimePoint now) const noexcept {
  if (!since_) return State::kFree;
  return now - *since_ <= kLongest ? State::kHeld : State::kTooLong;
}

}  // namespace wardmote::judge::guest
