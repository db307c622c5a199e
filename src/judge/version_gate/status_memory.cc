#include "judge/version_gate/status_memory.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "judge/version_gate/admission.h"
#include "judge/version_gate/status.h"

namespace wardmote::judge::version_gate {

void StatusMemory::look(const Look& now) {
  if (last_.revision > 0 && is_set_back(now)) remember();
  if (earlier_ && !base_) {
    // Until it was read anew the view may be that of before.
    if (now.lists != last_.lists || now.revision < last_.revision ||
        now.stored.changed < last_.stored.changed)
      find_base(now);
  } else if (earlier_) {
    follow(now);
  }
  Marks seen{.status = now.stored.changed, .claim = now.claimed, .by = now.claim};
  if (known_.empty() || known_.back() != seen) known_.push_back(std::move(seen));
  if (known_.size() > kMostKnown) known_.pop_front();
  last_ = now;
}

bool StatusMemory::is_set_back(const Look& now) const {
  const Revision changed = now.stored.changed;
  // In one history the last change of a key never goes back. A status that is gone has none.
  const bool older = changed > 0 && changed < last_.stored.changed;
  const bool other = changed > 0 && changed == last_.stored.changed && now.stored != last_.stored;
  return now.history != last_.history || now.revision < last_.revision || older || other;
}

void StatusMemory::remember() {
  base_.reset();
  if (last_.stored.kind == Stored::Kind::kAbsent) return;
  if (!earlier_) {
    earlier_ = Earlier{.stored = last_.stored};
    return;
  }
  // Set back once more. Objects of both may be there.
  twice_ = true;
  if (last_.stored.kind == Stored::Kind::kUnreadable) earlier_->stored = last_.stored;
  if (earlier_->stored.kind == Stored::Kind::kUnreadable) return;
  Status& both = earlier_->stored.status;
  both.version = std::min(both.version, last_.stored.status.version);
  both.minimum = std::max(both.minimum, last_.stored.status.minimum);
}

void StatusMemory::find_base(const Look& now) {
  base_ = Marks{.status = now.stored.changed, .claim = now.claimed, .by = now.claim};
  if (!twice_ && now.stored == earlier_->stored && now.claimed == last_.claimed &&
      now.claim == last_.claim) {
    earlier_.reset();  // the copy is as new as the gate
    return;
  }
  // What was seen before is of the copy. Anything else may be of a leader who came before this
  // look.
  const bool none = now.stored.changed == 0 && now.claimed == 0;
  earlier_->untouched = !twice_ && (none || std::ranges::find(known_, *base_) != known_.end());
}

void StatusMemory::follow(const Look& now) {
  const bool rewritten = now.stored.changed != base_->status;
  if (rewritten || now.claimed != base_->claim) earlier_->untouched = false;
  // A leader writes `done` only after a pass over all objects.
  if (!rewritten || now.stored.kind != Stored::Kind::kReadable ||
      now.stored.status.state != Status::State::kDone)
    return;
  earlier_.reset();
  twice_ = false;
}

}  // namespace wardmote::judge::version_gate
