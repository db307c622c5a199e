#pragma once

#include <chrono>
#include <string>

#include "act/reconcile/options.h"
#include "base/time.h"

namespace wardmote::act::kubernetes {

struct NodeConditionsOptions {
  std::string node;  ///< the name of the Node
  reconcile::KubeLoginOptions login;
  Duration heartbeat = std::chrono::minutes(5);  ///< written again so often
  friend bool operator==(const NodeConditionsOptions&, const NodeConditionsOptions&) = default;
};

}  // namespace wardmote::act::kubernetes
