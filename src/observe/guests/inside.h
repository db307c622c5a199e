#pragma once

#include <string_view>

#include "base/time.h"
#include "judge/guest/inside.h"

namespace wardmote::observe::guests {

/// The command of the guest agent that answers it.
std::string_view command_of(judge::guest::Inquiry inquiry) noexcept;

/// What was asked, and by which clocks.
struct Asked {
  judge::guest::Inquiry inquiry{};
  TimePoint begun;
  TimePoint ended;
  WallTime ended_wall;
};

/// Tells `inside` what the agent replied. A refusal, or what cannot be read, says nothing: an old
/// agent does not know the question.
void learn(judge::guest::InsideWatch& inside, const judge::guest::InsidePolicy& policy,
           const Asked& asked, std::string_view reply);

}  // namespace wardmote::observe::guests
