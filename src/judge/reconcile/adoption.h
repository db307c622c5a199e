#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "judge/reconcile/decision.h"
#include "judge/reconcile/report.h"

namespace wardmote::judge::reconcile {

/// Who has an object that a manifest wants, as far as taking it over needs it.
struct Ownership {
  std::vector<std::string> appliers;  ///< field managers that apply it
  std::string controller;             ///< `ReplicaSet web`, which would change it back; empty: none
};

/// Why nobody may order that `set` takes over `live`: it is not clear whose it is, or somebody
/// would take it back. Empty: somebody may.
std::string why_not_adopted(std::string_view set, const LiveObject& live,
                            const Ownership& ownership);

/// Objects that somebody ordered to be taken over, by what they are called: the uid of each.
using Adoptions = std::map<std::string, std::string, std::less<>>;

/// Whether the order is for the very object that is there now.
bool is_adopted(const Adoptions& adoptions, const std::string& object, std::string_view uid);

/// The object of a pass that `words` name: all of `ConfigMap default/settings`, or without the
/// group of its kind, or without its namespace. kMissing: none of that name waits to be taken over.
/// kRejected: several do, or it must not be taken over.
Result<ObjectReport> find_adoptable(const PassReport& report, std::string_view words);

}  // namespace wardmote::judge::reconcile
