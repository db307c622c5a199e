#include "act/reconcile/kube_fence.h"

#include <boost/json/object.hpp>
#include <expected>
#include <optional>
#include <string>
#include <utility>

#include "act/reconcile/kube_client.h"
#include "act/reconcile/kube_target.h"
#include "act/reconcile/kube_writer.h"
#include "base/format.h"
#include "base/result.h"
#include "base/time.h"
#include "codec/kube_fence.h"
#include "codec/kube_object.h"
#include "judge/reconcile/fence.h"
#include "runtime/task.h"

namespace wardmote::act::reconcile {

namespace json = boost::json;
namespace rules = judge::reconcile;
using judge::reconcile::FenceReport;
using judge::reconcile::FenceToken;
using runtime::Task;
using namespace std::chrono_literals;

namespace {

constexpr int kGood = 200;
constexpr int kNotFound = 404;
constexpr int kMostRaces = 3;
/// A server hears of a new policy, and of a new token, a moment after it has stored them.
constexpr Duration kProofPatience = 5s;
constexpr Duration kProofPause = 100ms;

/// Whoever was faster, and what came of a write without an answer, is read.
bool is_to_read_again(const Written& written) {
  return written.kind == Written::Kind::kStale || written.kind == Written::Kind::kNoAnswer;
}

}  // namespace

Task<Result<bool>> KubeFence::has_policies() {
  if (options_.fence == rules::FenceWish::kNone) co_return false;
  KubeRequest request;
  request.path = fmt::format("/apis/{}", codec::kAdmissionVersion);
  const auto answer = co_await client_.ask(std::move(request), terms_.deadline);
  if (!answer) co_return std::unexpected(answer.error());
  auto offer = rules::FenceOffer::kUnknown;
  std::string complaint;
  if (answer->status == kNotFound) {
    offer = rules::FenceOffer::kNo;
  } else if (answer->status != kGood) {
    complaint = describe(*answer);
  } else if (const auto has = codec::has_admission_policies(answer->body)) {
    offer = *has ? rules::FenceOffer::kYes : rules::FenceOffer::kNo;
  } else {
    complaint = has.error().describe();
  }
  co_return rules::is_to_fence(options_.fence, offer, complaint);
}

Task<Result<FenceToken>> KubeFence::read_token(std::string* version) {
  std::string path = codec::fence_token_path(names_);
  const auto found = co_await client_.get(std::move(path), terms_.deadline);
  if (!found) co_return std::unexpected(found.error());
  *version = std::string(kAbsentVersion);
  if (!*found) co_return FenceToken();
  *version = codec::read_head(**found).resource_version;
  co_return FenceToken{.there = true, .value = codec::read_fence_token(**found)};
}

Task<Written> KubeFence::apply(std::string path, json::object body, std::string version) {
  ApplyOrder order;
  order.path = std::move(path);
  order.manager = field_manager(options_.set);
  order.body = std::move(body);
  order.resource_version = std::move(version);
  order.force = true;
  Written written = co_await writer_.apply(std::move(order), terms_.deadline);
  co_return written;
}

Task<Result<void>> KubeFence::raise() {
  std::string why;
  for (int races = 0; races < kMostRaces; ++races) {
    std::string version;
    const auto stored = co_await read_token(&version);
    if (!stored) co_return std::unexpected(stored.error());
    const auto raises = rules::is_to_raise(*stored, terms_.token);
    if (!raises) co_return with_context(raises, "{}", codec::fence_name(names_.set));
    if (!*raises) co_return Result<void>();
    std::string path = codec::fence_token_path(names_);
    json::object token = codec::make_fence_token(names_, terms_.token);
    Written written = co_await apply(std::move(path), std::move(token), std::move(version));
    if (written.kind == Written::Kind::kDone) co_return Result<void>();
    why = std::move(written.why);
    if (!is_to_read_again(written)) break;
  }
  co_return fail(Errc::kRejected, "it cannot be raised: {}", why);
}

Task<Result<void>> KubeFence::keep(std::string path, json::object wanted) {
  std::string why;
  for (int races = 0; races < kMostRaces; ++races) {
    std::string from = path;
    const auto found = co_await client_.get(std::move(from), terms_.deadline);
    if (!found) co_return std::unexpected(found.error());
    if (*found && codec::holds(**found, wanted)) co_return Result<void>();
    std::string version =
        *found ? codec::read_head(**found).resource_version : std::string(kAbsentVersion);
    std::string to = path;
    json::object body = wanted;
    Written written = co_await apply(std::move(to), std::move(body), std::move(version));
    const bool done = written.kind == Written::Kind::kDone;
    if (done && codec::holds(written.object, wanted)) co_return Result<void>();
    why = done ? "it has fields of somebody else that narrow it, or is being deleted; delete it"
               : std::move(written.why);
    if (!is_to_read_again(written)) break;
  }
  co_return fail(Errc::kRejected, "{} cannot be put up: {}", path, why);
}

/// That the server has such objects does not say that it heeds them: the plugin may be off.
Task<Result<void>> KubeFence::prove() {
  const TimePoint end = runtime_.now() + kProofPatience;
  client_.act_as(KubeActor{codec::fence_user(names_.set), terms_.token - 1});
  for (;;) {
    ApplyOrder order;
    order.path = codec::fence_token_path(names_);
    order.manager = field_manager(options_.set);
    order.body = codec::make_fence_token(names_, terms_.token - 1);
    order.force = true;
    order.dry = true;
    const Written written = co_await writer_.apply(std::move(order), terms_.deadline);
    if (written.kind == Written::Kind::kFenced) break;
    if (written.kind != Written::Kind::kDone)
      co_return fail(Errc::kRejected, "it cannot be tried as the user {}: {}",
                     codec::fence_user(names_.set), written.why);
    if (runtime_.now() + kProofPause >= end)
      co_return fail(Errc::kRejected,
                     "the server has admission policies, and does not heed {}: a write with an "
                     "older token would pass",
                     codec::fence_name(names_.set));
    co_await runtime_.sleep_until(runtime_.now() + kProofPause);
  }
  client_.act_as(KubeActor{codec::fence_user(names_.set), terms_.token});
  co_return Result<void>();
}

Task<Result<FenceReport>> KubeFence::put_up() {
  using Kind = FenceReport::Kind;
  client_.act_as(std::nullopt);
  const auto fences = co_await has_policies();
  if (!fences) co_return std::unexpected(fences.error());
  if (!*fences) {
    const bool wished = options_.fence != rules::FenceWish::kNone;
    co_return FenceReport{.kind = wished ? Kind::kWait : Kind::kNone};
  }
  if (terms_.dry) {
    std::string version;
    const auto stored = co_await read_token(&version);
    if (!stored) co_return std::unexpected(stored.error());
    const auto token = stored->value.value_or(0);
    client_.act_as(KubeActor{codec::fence_user(names_.set), token});
    co_return FenceReport{.kind = Kind::kPolicy, .token = token};
  }
  Result<void> done = co_await raise();
  if (!done) co_return std::unexpected(done.error());
  std::string path = codec::fence_policy_path(names_);
  json::object policy = codec::make_fence_policy(names_);
  done = co_await keep(std::move(path), std::move(policy));
  if (!done) co_return std::unexpected(done.error());
  path = codec::fence_binding_path(names_);
  json::object binding = codec::make_fence_binding(names_);
  done = co_await keep(std::move(path), std::move(binding));
  if (!done) co_return std::unexpected(done.error());
  done = co_await prove();
  if (!done) co_return std::unexpected(done.error());
  co_return FenceReport{.kind = Kind::kPolicy, .token = terms_.token};
}

}  // namespace wardmote::act::reconcile
