#include "judge/guest/facts.h"

#include <string_view>

#include "judge/outcome.h"

namespace wardmote::judge::guest {

std::string_view to_string(Run run) noexcept {
  switch (run) {
    case Run::kNoState: return "no state";
    case Run::kRunning: return "running";
    case Run::kBlocked: return "blocked on resource";
    case Run::kPaused: return "paused by user";
    case Run::kShuttingDown: return "being shut down";
    case Run::kShutOff: return "shut off";
    case Run::kCrashed: return "crashed";
    case Run::kSuspended: return "suspended by guest power management";
  }
  return "no state";
}

std::string_view to_string(Channel channel) noexcept {
  switch (channel) {
    case Channel::kUnknown: return "unknown";
    case Channel::kConnected: return "connected";
    case Channel::kDisconnected: return "disconnected";
    case Channel::kNone: return "none";
  }
  return "unknown";
}

Outcome outcome_of(Ping ping) noexcept {
  switch (ping) {
    case Ping::kAnswered: return Outcome::kOk;
    case Ping::kSilent:
    case Ping::kDisconnected: return Outcome::kFail;
    case Ping::kNotRunning:
    case Ping::kBusy:
    case Ping::kUnknown: return Outcome::kUnknown;
  }
  return Outcome::kUnknown;
}

}  // namespace wardmote::judge::guest
