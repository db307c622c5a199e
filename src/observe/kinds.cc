#include "observe/kinds.h"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

#include "observe/bird/bird_probe.h"
#include "observe/ovn/ovn_probe.h"
#include "observe/tcp_probe.h"

namespace wardmote::observe {

std::span<const ProbeKind> probe_kinds() noexcept {
  static const auto kKinds = std::to_array<ProbeKind>({
      {"ovn", "OVN database member: OVSDB _Server and cluster/status", ovn::ovn_params(),
       ovn::make_ovn_probe},
      {"bird", "BIRD 1.6 or 2: BGP sessions, graceful restart", bird::bird_params(),
       bird::make_bird_probe},
      {"tcp", "a TCP address that accepts connections", tcp_params(), make_tcp_probe},
  });
  return kKinds;
}

const ProbeKind* find_kind(std::string_view name) noexcept {
  const auto kinds = probe_kinds();
  const auto found = std::ranges::find(kinds, name, &ProbeKind::name);
  return found == kinds.end() ? nullptr : &*found;
}

}  // namespace wardmote::observe
