#pragma once

#include <boost/json/object.hpp>
#include <set>
#include <string>
#include <string_view>

#include "act/reconcile/kube_catalog.h"

namespace wardmote::act::reconcile {

/// The kinds of which a set has had members: a ConfigMap, so that members of a kind that no
/// manifest names any more are found. It names no object: what is deleted is found by its label and
/// its field manager.
struct Inventory {
  std::set<KindName> kinds;
  bool there = false;  ///< the server has it
  bool whole = true;   ///< all of it could be read
};

std::string inventory_name(std::string_view set);
/// `/api/v1/namespaces/kube-system/configmaps/wardmote-set-k8s`
std::string inventory_path(std::string_view space, std::string_view set);
/// Lines that nobody can read are left out, and then it is not whole.
Inventory read_inventory(const boost::json::object& config_map);
boost::json::object write_inventory(std::string_view space, std::string_view set,
                                    const std::set<KindName>& kinds);

}  // namespace wardmote::act::reconcile
