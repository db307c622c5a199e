#pragma once

#include <string>
#include <vector>

namespace wardmote::cli {

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
};

/// Finds OVN databases, BIRD, FRR, Felix, and services under runit, s6, daemontools and systemd, by
/// their files below `root` ("/" for this machine). Only reads; in a fixed order.
std::vector<Found> detect(const std::string& root);

}  // namespace wardmote::cli
