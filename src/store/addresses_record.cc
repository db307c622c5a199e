#include "store/addresses_record.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/format.h"
#include "base/text.h"

namespace wardmote::store {
namespace {

/// A daemon has a session with each of some hundred others at most.
constexpr std::size_t kMostAddresses = 1000;

}  // namespace

std::string addresses_prefix(std::string_view node) {
  return fmt::format("addresses/{}/", node);
}

std::string addresses_key(std::string_view node, std::string_view check) {
  return addresses_prefix(node) + std::string(check);
}

std::string encode_addresses(std::span<const std::string> addresses) {
  return fmt::format("{}",
                     fmt::join(addresses.first(std::min(addresses.size(), kMostAddresses)), " "));
}

std::vector<std::string> decode_addresses(std::string_view text) {
  std::vector<std::string> addresses;
  while (!text.empty() && addresses.size() < kMostAddresses) {
    const std::string_view address = take_until(text, ' ');
    if (!address.empty()) addresses.emplace_back(address);
  }
  return addresses;
}

}  // namespace wardmote::store
