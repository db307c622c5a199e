#include "observe/kinds.h"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

#include "observe/bird/bird_probe.h"
#include "observe/endpoint/dns_probe.h"
#include "observe/endpoint/http_params.h"
#include "observe/endpoint/http_probe.h"
#include "observe/endpoint/https_probe.h"
#include "observe/endpoint/ping_probe.h"
#include "observe/etcd/etcd_probe.h"
#include "observe/frr/frr_probe.h"
#include "observe/grpc/grpc_probe.h"
#include "observe/host/exec_probe.h"
#include "observe/host/file_probe.h"
#include "observe/host/process_probe.h"
#include "observe/ovn/controller_probe.h"
#include "observe/ovn/host_probe.h"
#include "observe/ovn/northd_probe.h"
#include "observe/ovn/ovn_probe.h"
#include "observe/ovn/vswitchd_probe.h"
#include "observe/service/supervised_probe.h"
#include "observe/systemd/systemd_probe.h"
#include "observe/tcp_probe.h"
#include "observe/tls_probe.h"

namespace wardmote::observe {

std::span<const ProbeKind> probe_kinds() noexcept {
  static const auto kKinds = std::to_array<ProbeKind>({
      {"ovn", "OVN database member: OVSDB _Server and cluster/status", ovn::ovn_params(),
       ovn::make_ovn_probe},
      {"northd", "ovn-northd: active, standby or paused, and its databases", ovn::northd_params(),
       ovn::make_northd_probe},
      {"ovn_controller", "ovn-controller: whether this host follows the southbound database",
       ovn::controller_params(), ovn::make_controller_probe},
      {"vswitchd", "ovs-vswitchd: its process, and whether it carries out its database",
       ovn::vswitchd_params(), ovn::make_vswitchd_probe},
      {"ovn_host", "disk, file and last words of an OVSDB server, on its own host",
       ovn::host_params(), ovn::make_host_probe},
      {"etcd", "etcd member: leader, alarms, size of its database", etcd::etcd_params(),
       etcd::make_etcd_probe},
      {"bird", "BIRD 1.6 or 2: BGP sessions, graceful restart", bird::bird_params(),
       bird::make_bird_probe},
      {"frr", "FRR's bgpd: BGP sessions", frr::frr_params(), frr::make_frr_probe},
      {"runit", "service under runit: its status and its process", service::runit_params(),
       service::make_runit_probe},
      {"s6", "service under s6: its status, restarts and process", service::supervised_params(),
       service::make_s6_probe},
      {"daemontools", "service under daemontools: its status and its process",
       service::supervised_params(), service::make_daemontools_probe},
      {"systemd", "unit of systemd: its state, restarts, watchdog and process",
       systemd::systemd_params(), systemd::make_systemd_probe},
      {"process", "processes by name or pid file", process_params(), make_process_probe},
      {"file", "file: whether it exists, its age and size", file_params(), make_file_probe},
      {"http", "web server: status, body, redirects", http_params(), make_http_probe},
      {"exec", "command or monitoring plugin by its exit code", exec_params(), make_exec_probe},
      {"grpc", "gRPC server: grpc.health.v1, also over TLS", grpc::grpc_params(),
       grpc::make_grpc_probe},
      {"dns", "name server: its answer to one question", dns_params(), make_dns_probe},
      {"ping", "host that answers ICMP echo requests", ping_params(), make_ping_probe},
      {"tcp", "TCP address that accepts connections", tcp_params(), make_tcp_probe},
      {"https", "web server over TLS: as http, and the server's certificate", https_params(),
       make_https_probe},
      {"tls", "TLS handshake and the server's certificate", tls_params(), make_tls_probe},
  });
  return kKinds;
}

const ProbeKind* find_kind(std::string_view name) noexcept {
  const auto kinds = probe_kinds();
  const auto found = std::ranges::find(kinds, name, &ProbeKind::name);
  return found == kinds.end() ? nullptr : &*found;
}

}  // namespace wardmote::observe
