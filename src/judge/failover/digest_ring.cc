#include "judge/failover/digest_ring.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace wardmote::judge::failover {

void DigestRing::push(const ContentHash& content) {
  if (!contents_.empty() && contents_.back() == content) return;
  contents_.push_back(content);
  if (contents_.size() > kLength) contents_.pop_front();
  ++next_;
}

std::optional<std::uint64_t> DigestRing::find(const ContentHash& content) const noexcept {
  for (std::size_t back = 0; back < contents_.size(); ++back) {
    if (contents_[contents_.size() - 1 - back] == content) return last() - back;
  }
  return std::nullopt;
}

std::vector<ContentHash> DigestRing::newest(std::size_t most) const {
  const std::size_t count = std::min(most, contents_.size());
  return {contents_.end() - static_cast<std::ptrdiff_t>(count), contents_.end()};
}

}  // namespace wardmote::judge::failover
