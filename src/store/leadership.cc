#include "store/leadership.h"

#include <chrono>
#include <expected>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "base/time.h"
#include "runtime/task.h"
#include "store/store.h"

namespace wardmote::store {

namespace {

constexpr std::string_view kLeaderKey = "leader";
constexpr Duration kPatience = std::chrono::seconds(30);

}  // namespace

runtime::Task<Result<void>> SoleLeadership::take() {
  if (store_ == nullptr) co_return Result<void>();
  Transaction transaction;
  transaction.changes.emplace_back(Put{std::string(kLeaderKey), "alone"});
  const auto taken =
      co_await store_->put_if(std::move(transaction), runtime_.deadline_in(kPatience));
  if (!taken) co_return with_context(taken, "leadership");
  // Each take() is another revision of the key.
  fence_ = Compare::unchanged_since(kLeaderKey, taken->revision);
  co_return Result<void>();
}

}  // namespace wardmote::store
