#include "act/reconcile/options.h"

#include <cstddef>
#include <string_view>

#include "codec/kubernetes.h"

namespace wardmote::act::reconcile {

bool is_set_name(std::string_view name) {
  constexpr std::size_t kLongestLabel = 63;
  return name.size() <= kLongestLabel && codec::is_kubernetes_name(name);
}

}  // namespace wardmote::act::reconcile
