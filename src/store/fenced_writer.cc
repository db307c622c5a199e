#include "store/fenced_writer.h"

#include <expected>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "runtime/deadline.h"
#include "runtime/task.h"
#include "store/leadership.h"
#include "store/records.h"
#include "store/store.h"

namespace wardmote::store {

using runtime::Deadline;
using runtime::Task;

namespace {

std::vector<StoreChange> store_changes(const RecordChanges& changes) {
  std::vector<StoreChange> made;
  made.reserve(changes.size());
  for (const auto& [key, value] : changes) {
    if (value) {
      made.emplace_back(Put{key, *value});
    } else {
      made.emplace_back(Erase{KeyRange::one(key)});
    }
  }
  return made;
}

}  // namespace

Task<Result<Revision>> FencedWriter::look(Deadline deadline) {
  std::string key = key_;
  const Result<Found> found = co_await store_.get(std::move(key), deadline);
  if (!found) co_return std::unexpected(found.error());
  co_return found->key ? found->key->mod_revision : 0;
}

Task<Result<void>> FencedWriter::write(RecordChanges changes, Deadline deadline) {
  const std::optional<Compare> fence = leadership_.fence();
  changes[key_] = "";
  std::optional<Revision> last = std::exchange(last_, std::nullopt);
  for (;;) {
    if (!last) {
      const Result<Revision> now = co_await look(deadline);
      if (!now) co_return std::unexpected(now.error());
      last = *now;
    }
    Transaction transaction;
    if (fence) transaction.conditions.push_back(*fence);
    transaction.conditions.push_back(Compare::unchanged_since(key_, *last));
    transaction.changes = store_changes(changes);
    unsure_ = true;
    const Result<Committed> put = co_await store_.put_if(std::move(transaction), deadline);
    if (!put) co_return std::unexpected(put.error());
    if (put->held) {
      last_ = put->revision;
      unsure_ = false;
      co_return Result<void>();
    }
    const Result<Revision> now = co_await look(deadline);
    if (!now) co_return std::unexpected(now.error());
    if (*now == *last) {
      last_ = last;
      co_return fail(Errc::kRejected, "another agent leads");
    }
    last = *now;  // one that was sent earlier has come
  }
}

Task<Result<void>> FencedWriter::settle(Deadline deadline) {
  if (!unsure_) co_return Result<void>();
  Result<void> settled = co_await write(RecordChanges(), deadline);
  co_return settled;
}

}  // namespace wardmote::store
