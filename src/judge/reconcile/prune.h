#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "judge/reconcile/decision.h"
#include "judge/reconcile/object_id.h"

namespace wardmote::judge::reconcile {

/// How many of the members a pass may delete at most, in per cent. 0: none. 100: all of them, even
/// when nothing is desired any more.
struct PruneBrake {
  int percent = 50;
};

/// A member that no manifest wants, and that stays because of what would be deleted with it.
struct Holding {
  ObjectId id;
  ObjectId inside;      ///< one of those
  bool wanted = false;  ///< manifests name that one; else it stays for another reason
};
/// `manifests still name ConfigMap x/in, which is in it`
std::string describe(const Holding& holding);

/// Members of the set that nothing wants any more.
struct PrunePlan {
  std::vector<ObjectId> doomed;  ///< in the order in which they are deleted
  /// The brake holds: then nothing is deleted, and `doomed` is what would be.
  std::string refused{};
  /// The brake holds because so many would go: then what is desired may be wrong altogether, and
  /// nothing new is made of it either. Else the new ones would count as members in the next pass,
  /// and the brake would let go.
  bool doubted = false;
  std::vector<ObjectId> kept{};  ///< they ask not to be pruned
  std::vector<Holding> holding{};
  std::vector<ObjectId> deleting{};  ///< somebody deletes them already
  std::vector<ObjectId> not_ours{};  ///< they have our label, and we never applied them
};

/// `found` has every object with the label of the set, `desired` what manifests name, whatever they
/// say of it, and `needed` what else has to stay, also without a label.
PrunePlan plan_prune(std::string_view set, const std::vector<LiveObject>& found,
                     const std::set<ObjectId>& desired, PruneBrake brake,
                     const std::set<ObjectId>& needed = {});

}  // namespace wardmote::judge::reconcile
