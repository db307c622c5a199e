#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace wardmote::judge::bgp {

/// The neighbour that Calico wrote into the name of a protocol (confd's BIRD templates):
/// `Mesh_10_0_0_2`, `Global_fd80_24e2__2`, `Node_10_9_1_3_port_1790`.
struct CalicoName {
  std::string type;  ///< `Mesh`, `Node`, `Global`
  std::string address;
  std::uint16_t port = 179;
  friend bool operator==(const CalicoName&, const CalicoName&) = default;
};

/// Nothing for any other name.
std::optional<CalicoName> read_calico_name(std::string_view name);

}  // namespace wardmote::judge::bgp
