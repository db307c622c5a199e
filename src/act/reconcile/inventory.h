#pragma once

#include <boost/json/object.hpp>
#include <cstddef>
#include <set>
#include <string>
#include <string_view>

#include "act/reconcile/kube_catalog.h"
#include "judge/reconcile/object_id.h"

namespace wardmote::act::reconcile {

/// What is noted of a set, as a ConfigMap: the kinds of which it has had members, so that members
/// of a kind that no manifest names any more are found; and members that are kept when their
/// manifests go. What is deleted is found by its label and its field manager, never by this.
struct Inventory {
  std::set<KindName> kinds;
  /// By their manifests they stay. They say so themselves, too, unless they were written before
  /// their manifests did, or somebody has taken that away.
  std::set<judge::reconcile::ObjectId> kept{};
  bool there = false;  ///< the server has it
  bool whole = true;   ///< all of it could be read
};

/// How many objects may be `kept`: a ConfigMap holds a megabyte.
inline constexpr std::size_t kMostKept = 1000;

std::string inventory_name(std::string_view set);
/// `/api/v1/namespaces/kube-system/configmaps/wardmote-set-k8s`
std::string inventory_path(std::string_view space, std::string_view set);
/// What nobody can read is left out, and then it is not whole.
Inventory read_inventory(const boost::json::object& config_map);
boost::json::object write_inventory(std::string_view space, std::string_view set,
                                    const Inventory& inventory);

}  // namespace wardmote::act::reconcile
