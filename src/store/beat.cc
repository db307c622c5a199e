#include "store/beat.h"

#include <chrono>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <utility>

#include "base/result.h"
#include "base/text.h"
#include "base/time.h"
#include "runtime/task.h"
#include "store/seen_revision.h"
#include "store/store.h"

namespace wardmote::store {

using runtime::Task;

namespace {

constexpr Duration kPatience = std::chrono::seconds(5);
/// How much more any agent may have read before the store was set back.
constexpr std::uint64_t kBeyondOthers = 10;
/// More than can be counted in one's life: somebody else wrote it.
constexpr std::uint64_t kMost = 1'000'000'000'000'000;

}  // namespace

std::uint64_t beat_of(const Found& found) {
  const std::uint64_t beat =
      found.key ? parse_number<std::uint64_t>(found.key->value).value_or(0) : 0;
  return beat <= kMost ? beat : 0;
}

Task<void> Beat::run() {
  for (;;) {
    co_await beat_once();
    co_await runtime_.sleep_until(runtime_.now() + every_);
  }
}

Task<void> Beat::beat_once() {
  // One that fails is made up for by the next.
  static_cast<void>(co_await beat());
}

Task<Result<void>> Beat::beat() {
  SeenRevision::Mark asked = store_.seen().mark();
  std::string key = key_;
  const Result<Found> found = co_await store_.get(std::move(key), runtime_.deadline_in(kPatience));
  const bool denied = !found && found.error().code == Errc::kDenied;
  if (denied && leadership_ != nullptr) leadership_->give_up(found.error());
  if (!found) co_return std::unexpected(found.error());
  store_.seen().answered_beat(asked, beat_of(*found));
  const auto fence = leadership_ != nullptr ? leadership_->fence() : std::nullopt;
  if (!fence || !leadership_->leads()) co_return Result<void>();
  // When a store that came back empty is followed by an older copy, that must be lower, too.
  const std::uint64_t highest = store_.seen().highest_beat();
  const std::uint64_t beat = highest + (beat_of(*found) < highest ? kBeyondOthers : 1);
  Transaction raise;
  // Tied to what was read: one that the store makes late lowers nothing.
  raise.conditions = {*fence,
                      Compare::unchanged_since(key_, found->key ? found->key->mod_revision : 0)};
  raise.changes.emplace_back(Put{key_, std::to_string(beat)});
  asked = store_.seen().mark();
  const Result<Committed> put =
      co_await store_.put_if(std::move(raise), runtime_.deadline_in(kPatience));
  // Etcd goes on to renew the lease of who may write nothing.
  if (!put && put.error().code == Errc::kDenied) leadership_->give_up(put.error());
  if (!put) co_return std::unexpected(put.error());
  if (put->held) store_.seen().answered_beat(asked, beat);
  co_return Result<void>();
}

}  // namespace wardmote::store
