#include "agent/check_watch.h"

#include <utility>

namespace wardmote::agent {

using judge::Outcome;

CheckWatch::CheckWatch(Board& board, SelfWatch& self, std::size_t index,
                       std::unique_ptr<observe::Probe> probe)
    : board_(board), self_(self), index_(index), probe_(std::move(probe)) {}

runtime::Task<void> CheckWatch::round(runtime::Deadline deadline) {
  judge::Observation seen = co_await probe_->look(deadline);
  const bool bad_news = seen.outcome == Outcome::kFail || seen.outcome == Outcome::kUnknown;
  if (bad_news && self_.voids(seen.begun, seen.reason)) {
    seen.outcome = Outcome::kUnknown;
    seen.reason = self_.starved();
  }
  board_.check_observed(index_, seen, seen.ended);
}

}  // namespace wardmote::agent
