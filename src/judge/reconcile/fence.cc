#include "judge/reconcile/fence.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/format.h"
#include "base/result.h"

namespace wardmote::judge::reconcile {

using Kind = FenceReport::Kind;

std::optional<FenceWish> fence_wish(std::string_view word) noexcept {
  if (word == "none") return FenceWish::kNone;
  if (word == "auto") return FenceWish::kAuto;
  if (word == "require") return FenceWish::kRequire;
  return std::nullopt;
}

std::string_view to_string(Kind kind) noexcept {
  switch (kind) {
    case Kind::kUnasked: return "";
    case Kind::kNone: return "none";
    case Kind::kPolicy: return "policy";
    case Kind::kWait: return "wait";
    case Kind::kUnknown: return "unknown";
  }
  return "unknown";
}

std::string describe(const FenceReport& fence) {
  switch (fence.kind) {
    case Kind::kUnasked: return "";
    case Kind::kNone:
      return "not asked for: a new leader waits, and each write is for the version that was read";
    case Kind::kPolicy:
      if (fence.token == 0)
        return "the server has admission policies; the next leader has it refuse writes of earlier "
               "ones";
      return fmt::format("the server refuses writes of leaders before token {}", fence.token);
    case Kind::kWait:
      return "the server has no admission policies: a new leader waits, and each write is for the "
             "version that was read";
    case Kind::kUnknown: break;
  }
  return "unknown, so nothing is written: " + fence.why;
}

Result<bool> is_to_fence(FenceWish wish, FenceOffer offer, std::string_view complaint) {
  if (wish == FenceWish::kNone) return false;
  if (offer == FenceOffer::kUnknown)
    return fail(Errc::kRejected, "whether the server has admission policies: {}", complaint);
  if (offer == FenceOffer::kYes) return true;
  if (wish == FenceWish::kRequire)
    return fail(Errc::kRejected,
                "the server has no admission policies (Kubernetes 1.30), and 'fence: require' "
                "demands them");
  return false;
}

Result<bool> is_to_raise(const FenceToken& stored, std::int64_t own) {
  if (!stored.there) return true;
  if (!stored.value)
    return fail(Errc::kRejected,
                "nobody can read its token, so a later leader may have raised it; delete the "
                "ConfigMap if none has");
  if (*stored.value > own)
    return fail(Errc::kRejected,
                "it stands at token {}, and this leader has {}: a later one leads, or the store of "
                "the agents began anew; in that case delete the ConfigMap",
                *stored.value, own);
  return *stored.value < own;
}

}  // namespace wardmote::judge::reconcile
