#pragma once

#include <optional>
#include <string>
#include <utility>

#include "base/result.h"
#include "runtime/deadline.h"
#include "runtime/task.h"
#include "store/leadership.h"
#include "store/records.h"
#include "store/store.h"

namespace wardmote::store {

/// Changes in the name of who leads, in the order in which they are given. A store may make a
/// change long after anybody waits for its answer (etcd gives up on a slow disk, and the proposal
/// is applied later), and then it must undo neither what was changed nor what was read meanwhile.
/// So each transaction holds only if no other came after the one before it, by the revision of a
/// key of its own: of two that are tied to the same revision one holds. One call at a time. Life
/// cycle: `store` and `leadership` outlive it. Thread: the core loop.
class FencedWriter {
 public:
  /// `key` is this writer's own.
  FencedWriter(Store& store, const Leadership& leadership, std::string key)
      : store_(store), leadership_(leadership), key_(std::move(key)) {}

  /// Under the fence of this moment. kRejected: another agent leads, and nothing was changed. After
  /// any other error the changes may be made yet, but not after the next call has succeeded.
  runtime::Task<Result<void>> write(RecordChanges changes, runtime::Deadline deadline);
  /// When it has succeeded, nothing that was given before will be changed any more. For who leads
  /// again, before it reads. Errors as above.
  runtime::Task<Result<void>> settle(runtime::Deadline deadline);

 private:
  /// The revision at which our key was changed last, as the store says now.
  runtime::Task<Result<Revision>> look(runtime::Deadline deadline);

  Store& store_;
  const Leadership& leadership_;
  const std::string key_;
  std::optional<Revision> last_;  ///< of our key; nothing: not known
  bool unsure_ = false;           ///< something was sent and not answered
};

}  // namespace wardmote::store
