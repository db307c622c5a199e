#include "act/reconcile/options.h"

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "codec/kubernetes.h"

namespace wardmote::act::reconcile {

bool is_set_name(std::string_view name) {
  constexpr std::size_t kLongestLabel = 63;
  return name.size() <= kLongestLabel && codec::is_kubernetes_name(name);
}

bool is_git_ref(std::string_view text) {
  if (text.empty() || text.size() > 255 || text.starts_with('-') || text.contains(".."))
    return false;
  return std::ranges::all_of(text, [](char c) {
    const bool word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    return word || std::string_view("-_./").contains(c);
  });
}

}  // namespace wardmote::act::reconcile
