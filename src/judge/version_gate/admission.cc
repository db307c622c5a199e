#include "judge/version_gate/admission.h"

#include <optional>

#include "base/format.h"
#include "judge/version_gate/release.h"
#include "judge/version_gate/status.h"

namespace wardmote::judge::version_gate {

namespace {

/// Of a node that is registered and has read the status since.
Admission fit(const Product& own, const Stored& stored) {
  using Verdict = Admission::Verdict;
  if (stored.kind == Stored::Kind::kAbsent)
    return {.verdict = Verdict::kNoStatus, .why = "nothing was reconciled yet"};
  if (stored.kind == Stored::Kind::kUnreadable) {
    return {.verdict = Verdict::kUnreadable,
            .why = fmt::format("the status cannot be read: {}", stored.why)};
  }
  if (own.release < stored.status.minimum) {
    return {.verdict = Verdict::kNodeTooOld,
            .why = fmt::format("the reconciled state needs nodes of release {} or newer; this one "
                               "is {}",
                               to_string(stored.status.minimum), to_string(own.release))};
  }
  if (stored.status.version < own.min_reconciler_release) {
    return {.verdict = Verdict::kStatusTooOld,
            .why = fmt::format("this node needs what release {} or a newer one reconciles; the "
                               "state is of {}",
                               to_string(own.min_reconciler_release),
                               to_string(stored.status.version))};
  }
  return {.verdict = Verdict::kReady};
}

}  // namespace

Admission admit(const Product& own, std::optional<Revision> registered, const Stored& stored,
                Revision read_at, const std::optional<Earlier>& earlier) {
  using Verdict = Admission::Verdict;
  if (!registered) {
    return {.verdict = Verdict::kUnregistered,
            .why = fmt::format("this node is not registered with its release {}",
                               to_string(own.release))};
  }
  if (read_at < *registered) {
    return {.verdict = Verdict::kUnread,
            .why = "the status was not read since this node is registered"};
  }
  if (!earlier) return fit(own, stored);
  Admission before = fit(own, earlier->stored);
  before.set_back = true;
  if (!before.ready())
    before.why +=
        "; so it was before the store was set back, and no leader has recorded a whole pass since";
  if (!before.ready() || earlier->untouched) return before;
  return fit(own, stored);
}

}  // namespace wardmote::judge::version_gate
