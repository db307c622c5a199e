#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/result.h"
#include "judge/reconcile/object_id.h"

namespace wardmote::judge::reconcile {

/// The label of a member of a set: its value is the name of the set.
inline constexpr std::string_view kSetLabel = "reconcile.wardmote.io/set";
/// The annotation with the digest of what was applied last.
inline constexpr std::string_view kDigestAnnotation = "reconcile.wardmote.io/digest";
/// Annotations of a manifest with this prefix say how its object is treated.
inline constexpr std::string_view kAnnotationPrefix = "reconcile.wardmote.io/";

/// How one object is treated, as annotations of its manifest say.
struct Policy {
  /// `apply`: `override` writes whatever differs; `if-not-present` creates the object and leaves it
  /// alone from then on; `ignore` neither writes nor deletes it.
  enum class Apply : std::uint8_t { kOverride, kIfNotPresent, kIgnore };
  Apply apply = Apply::kOverride;
  /// `conflict`: `force` takes fields over from other field managers, and says from whom; `fail`
  /// does not.
  bool force = true;
  /// `on-immutable`: `recreate` deletes and creates anew what cannot be changed; `fail` does not.
  bool recreate = false;
  /// `prune`: `no` keeps the object when its manifest is gone.
  bool prune = true;
  /// `adopt`: `yes` takes over an object of that name which this set did not create.
  bool adopt = false;
  friend bool operator==(const Policy&, const Policy&) = default;
};

/// kInvalid: an annotation with our prefix that is not known, or has another value.
Result<Policy> read_policy(const std::map<std::string, std::string>& annotations);

/// Whether other objects, also those of others, are deleted with it: a Namespace, the definition of
/// a kind.
bool holds_others(const ObjectId& id);

/// Whether a member that has no manifest any more is kept, by its own annotations. What cannot be
/// read keeps it. So does an object that holds others, and one that is left alone once it is
/// present, unless it says `prune: "yes"`.
bool keeps(const ObjectId& id, const std::map<std::string, std::string>& annotations);

}  // namespace wardmote::judge::reconcile
