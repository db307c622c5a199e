#include "judge/guest/journal.h"

#include "judge/check_machine.h"

namespace wardmote::judge::guest {

bool MasakariJournal::begin_failure(int threshold) const noexcept {
  // `sent` is looked at behind the threshold: "notifier.send_notification Skipped".
  return state_ == State::kError && failures_ > threshold && !sent_;
}

void MasakariJournal::notified(Delivery delivery) noexcept {
  if (delivery == Delivery::kRaised) return;
  sent_ = true;
  state_ = State::kReported;
}

void MasakariJournal::end_failure() noexcept {
  // automaton: healthy -> error; discovery, error and reported stay.
  if (state_ == State::kHealthy) state_ = State::kError;
  if (state_ == State::kError) ++failures_;
}

void MasakariJournal::answered() noexcept {
  failures_ = 0;
  // reported -> discovery, not healthy: the next answer leads there.
  state_ = state_ == State::kReported ? State::kDiscovery : State::kHealthy;
}

MasakariJournal MasakariJournal::recall(State state, int failures, bool sent) noexcept {
  MasakariJournal journal;
  journal.state_ = state;
  journal.failures_ = failures;
  journal.sent_ = sent;
  return journal;
}

}  // namespace wardmote::judge::guest
