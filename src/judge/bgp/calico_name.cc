#include "judge/bgp/calico_name.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/text.h"

namespace wardmote::judge::bgp {
namespace {

bool is_ipv4(std::string_view underscored) noexcept {
  int numbers = 0;
  while (!underscored.empty() || numbers == 0) {
    const auto number = parse_number<std::uint8_t>(take_until(underscored, '_'));
    if (!number || ++numbers > 4) return false;
  }
  return numbers == 4;
}

}  // namespace

std::optional<CalicoName> read_calico_name(std::string_view name) {
  const std::string_view type = take_until(name, '_');
  if ((type != "Mesh" && type != "Node" && type != "Global") || name.empty()) return std::nullopt;
  CalicoName read;
  read.type = type;
  constexpr std::string_view kPort = "_port_";
  if (const std::size_t at = name.rfind(kPort); at != std::string_view::npos) {
    const auto port = parse_number<std::uint16_t>(name.substr(at + kPort.size()));
    if (port) {
      read.port = *port;
      name = name.substr(0, at);
    }
  }
  read.address = name;
  std::ranges::replace(read.address, '_', is_ipv4(name) ? '.' : ':');
  return read;
}

}  // namespace wardmote::judge::bgp
