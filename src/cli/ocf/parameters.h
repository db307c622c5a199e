#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "act/failover/replica.h"
#include "base/time.h"
#include "cli/ocf/code.h"
#include "runtime/endpoint.h"

namespace wardmote::cli::ocf {

/// The value of an environment variable; "" when it is not set.
using Environment = std::function<std::string(const std::string& name)>;

/// Of one of the two databases.
struct DatabaseParameters {
  std::string port;
  std::string protocol;  ///< tcp or ssl
  std::string key;
  std::string certificate;
  std::string ca;
};

/// What Pacemaker says in the environment (OCF Resource Agent API 1.1; the parameters are those of
/// OVN's ovndb-servers.ocf, with its defaults).
struct Parameters {
  std::string ovn_ctl;
  std::string master_ip;
  DatabaseParameters nb;
  DatabaseParameters sb;
  std::string manage_northd;
  std::string inactive_probe;
  std::string inactive_probe_to_master;
  std::string listen_on_master_ip_only;
  std::string stale_policy;  ///< refuse or promote
  int slave_score = 5;
  int master_score = 10;

  std::string instance;        ///< of the resource, without a clone's number
  std::string node;            ///< empty: ask the cluster
  Duration timeout{};          ///< of the action
  bool probe = false;          ///< a monitor that Pacemaker runs once, to learn what is there
  int check_level = 0;         ///< `OCF_CHECK_LEVEL`: from 10 on the active node also writes
  bool promoted_role = false;  ///< a recurring monitor of the promoted role

  std::string sbin;           ///< where Pacemaker's tools are
  std::string cib;            ///< Pacemaker's configuration as it is on this node's disk
  std::string report_socket;  ///< of a running wardmoted
  std::string log_file;       ///< empty: standard error
  std::string run_dir;        ///< of OVN
  std::string data_dir;       ///< of its databases
  std::string etc_dir;

  /// On the address alone, or on all while an external load balancer has the address.
  [[nodiscard]] bool listens_on_address() const noexcept {
    return listen_on_master_ip_only != "no";
  }
  [[nodiscard]] bool manages_northd() const noexcept { return manage_northd == "yes"; }
};

Parameters read_parameters(const Environment& environment);

/// What is wrong with the parameters.
struct Problem {
  Code code = Code::kConfigured;
  std::string text;
};

/// Nothing when they are good. Looks at no file.
std::optional<Problem> check_parameters(const Parameters& parameters);

/// `tcp:10.0.0.100:6641`, as ovsdb-server spells it: where a backup of the address copies from.
std::string source_of(const Parameters& parameters, const DatabaseParameters& database);
/// `tcp:192.0.2.254:6641`.
std::string nobody(const DatabaseParameters& database);
/// `ptcp:6641:10.0.0.100`: where the active server listens.
std::string listener_of(const Parameters& parameters, const DatabaseParameters& database);
/// The same source for ourselves.
runtime::Endpoint endpoint_of(const Parameters& parameters, const DatabaseParameters& database);

act::failover::ReplicaFiles nb_files(const Parameters& parameters);
act::failover::ReplicaFiles sb_files(const Parameters& parameters);
/// Of the database itself, as ovn-ctl names it.
std::string database_file(const Parameters& parameters, std::string_view database);

inline constexpr std::string_view kOvnCtl = "/usr/share/ovn/scripts/ovn-ctl";
/// Where it was before OVN left the Open vSwitch repository.
inline constexpr std::string_view kOldOvnCtl = "/usr/share/openvswitch/scripts/ovn-ctl";

}  // namespace wardmote::cli::ocf
