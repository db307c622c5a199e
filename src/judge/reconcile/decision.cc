#include "judge/reconcile/decision.h"

#include <optional>
#include <string>
#include <string_view>

#include "base/format.h"
#include "base/text.h"
#include "judge/reconcile/policy.h"

namespace wardmote::judge::reconcile {

std::string since(std::string_view moment) {
  if (moment.empty()) return "";
  return fmt::format(", since {}", escape_control(moment, 64));
}

bool is_member(const LiveObject& live, std::string_view set) {
  return live.set == set && live.applied_by_us;
}

Decision decide(std::string_view set, const Policy& policy, const std::optional<LiveObject>& live,
                bool matches) {
  using Kind = Decision::Kind;
  if (policy.apply == Policy::Apply::kIgnore) return {Kind::kLeave, "its policy is to ignore it"};
  if (!live) return {Kind::kCreate};
  // To apply to it would either fail for ever or revive what somebody deletes.
  if (live->deleting)
    return {Kind::kRefuse, fmt::format("somebody deletes it{}, and a finalizer holds it",
                                       since(live->deleting_since))};
  const bool foreign = !live->set.empty() && live->set != set;
  if (foreign)
    return {Kind::kRefuse,
            fmt::format("it belongs to the set '{}'", escape_control(live->set, 64))};
  if (!is_member(*live, set) && !policy.adopt)
    return {Kind::kRefuse,
            fmt::format("{}; annotate the manifest with {}adopt: \"yes\" to take it over",
                        live->applied_by_us ? "somebody has taken the label of the set off it"
                                            : "it was not created by this set",
                        kAnnotationPrefix)};
  if (policy.apply == Policy::Apply::kIfNotPresent)
    return {Kind::kLeave, "it is present, and its policy is to leave it then"};
  return {matches ? Kind::kUnchanged : Kind::kApply};
}

}  // namespace wardmote::judge::reconcile
