#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace wardmote::cli {

/// Found::kind of an OVN database, which becomes a cluster of the configuration.
inline constexpr std::string_view kClusterKind = "ovn-cluster";

/// Something on this machine that can be watched.
struct Found {
  /// What a check of it needs: the kind of probe, and its parameters in order.
  struct Param {
    std::string name;
    std::string value;
  };

  std::string name;  ///< for the configuration
  std::string kind;  ///< `ovn-cluster`, or a kind of probe
  std::vector<Param> params = {};
  std::string why;  ///< where it was found
  // What ask_found() fills in:
  std::string outcome = {};  ///< `ok`, `warn`, `fail` or `unknown`; empty: nobody asked
  std::string said = {};     ///< in one line, safe to print; may be empty
  std::vector<std::string> raft_addresses = {};  ///< of all servers of its cluster, sorted
  bool standalone = false;                       ///< a database without a cluster
};

/// Finds OVN databases, BIRD, FRR, Felix, and services under runit, s6, daemontools and systemd, by
/// their files below `root` ("/" for this machine). Only reads; in a fixed order.
std::vector<Found> detect(const std::string& root);

}  // namespace wardmote::cli
