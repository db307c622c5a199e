#include "cli/ocf/parameters.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "act/failover/replica.h"
#include "base/format.h"
#include "base/text.h"
#include "base/time.h"
#include "cli/ocf/code.h"
#include "runtime/endpoint.h"
#include "runtime/tls.h"

namespace wardmote::cli::ocf {
namespace {

using namespace std::chrono_literals;

/// Pacemaker's own default for an action without a timeout.
constexpr Duration kDefaultTimeout = 20s;
constexpr std::int64_t kLongestTimeoutMs = 24LL * 3600 * 1000;

std::string or_else(const std::string& value, std::string_view fallback) {
  return value.empty() ? std::string(fallback) : value;
}

/// `HA_SBIN_DIR` as resource-agents' file for shells has it: `: ${HA_SBIN_DIR:=/usr/sbin}`.
std::string sbin_of_shell_functions(const std::string& folder) {
  constexpr std::string_view kSetting = "${HA_SBIN_DIR:=";
  std::ifstream file(folder + "/ocf-directories");
  std::string line;
  for (int lines = 0; lines < 200 && std::getline(file, line); ++lines) {
    const std::size_t found = line.find(kSetting);
    if (found == std::string::npos) continue;
    std::string value = line.substr(found + kSetting.size());
    value = value.substr(0, value.find('}'));
    if (value.starts_with('/')) return value;
  }
  return {};
}

std::string find_sbin(const Environment& environment) {
  if (std::string given = environment("HA_SBIN_DIR"); !given.empty()) return given;
  const std::string root = or_else(environment("OCF_ROOT"), "/usr/lib/ocf");
  const std::string functions = or_else(environment("OCF_FUNCTIONS_DIR"), root + "/lib/heartbeat");
  return or_else(sbin_of_shell_functions(functions), "/usr/sbin");
}

std::string find_ovn_ctl(const Environment& environment) {
  if (std::string given = environment("OCF_RESKEY_ovn_ctl"); !given.empty()) return given;
  if (std::string given = environment("OVN_CTL_DEFAULT"); !given.empty()) return given;
  std::error_code error;
  const bool old =
      !std::filesystem::exists(kOvnCtl, error) && std::filesystem::exists(kOldOvnCtl, error);
  return std::string(old ? kOldOvnCtl : kOvnCtl);
}

/// As resource-agents' ocf_attribute_target: the host of a bundle's container, else the node.
std::string find_node(const Environment& environment) {
  const bool host = environment("OCF_RESKEY_CRM_meta_container_attribute_target") == "host" &&
                    !environment("OCF_RESKEY_CRM_meta_physical_host").empty();
  return environment(host ? "OCF_RESKEY_CRM_meta_physical_host" : "OCF_RESKEY_CRM_meta_on_node");
}

int number(const std::string& text, int fallback) {
  return parse_number<int>(text).value_or(fallback);
}

bool numeric_address(std::string_view text) {
  if (text.starts_with('[') && text.ends_with(']')) text = text.substr(1, text.size() - 2);
  if (text.contains(':')) {
    return text.find_first_not_of("0123456789abcdefABCDEF:.") == std::string_view::npos &&
           text.find(':') != text.rfind(':');
  }
  int parts = 0;
  for (const std::string_view part : split(text, '.')) {
    const auto value = parse_number<unsigned>(part);
    if (!value || *value > 255 || part.size() > 3) return false;
    ++parts;
  }
  return parts == 4;
}

std::string bracketed(std::string_view host) {
  const bool bare = host.contains(':') && !host.starts_with('[');
  return bare ? fmt::format("[{}]", host) : std::string(host);
}

DatabaseParameters read_database(const Environment& environment, std::string_view name,
                                 std::string_view port) {
  const auto value = [&](std::string_view format_before, std::string_view after) {
    return environment(fmt::format("OCF_RESKEY_{}{}{}", format_before, name, after));
  };
  const auto file = [&](std::string_view what) {
    return environment(fmt::format("OCF_RESKEY_ovn_{}_db_{}", name, what));
  };
  DatabaseParameters database;
  database.port = or_else(value("", "_master_port"), port);
  database.protocol = or_else(value("", "_master_protocol"), "tcp");
  database.key = or_else(file("privkey"), fmt::format("/etc/openvswitch/ovn{}-privkey.pem", name));
  database.certificate =
      or_else(file("cert"), fmt::format("/etc/openvswitch/ovn{}-cert.pem", name));
  database.ca = or_else(file("cacert"), "/etc/openvswitch/cacert.pem");
  return database;
}

std::optional<Problem> check_database(const DatabaseParameters& database, std::string_view name) {
  const auto port = parse_number<std::uint16_t>(database.port);
  if (!port || *port == 0) {
    return Problem{Code::kConfigured, fmt::format("{}_master_port is not a port: '{}'", name,
                                                  escape_control(database.port, 64))};
  }
  if (database.protocol != "tcp" && database.protocol != "ssl") {
    return Problem{Code::kConfigured, fmt::format("{}_master_protocol is neither tcp nor ssl: '{}'",
                                                  name, escape_control(database.protocol, 64))};
  }
  return std::nullopt;
}

std::optional<Problem> check_word(std::string_view name, std::string_view value,
                                  std::string_view one, std::string_view other) {
  if (value == one || value == other) return std::nullopt;
  return Problem{Code::kConfigured, fmt::format("{} is neither {} nor {}: '{}'", name, one, other,
                                                escape_control(value, 64))};
}

std::optional<Problem> check_probe(std::string_view name, std::string_view value) {
  const auto probe = parse_number<std::int64_t>(value);
  if (probe && *probe >= 0) return std::nullopt;
  return Problem{Code::kConfigured, fmt::format("{} is not a number of milliseconds: '{}'", name,
                                                escape_control(value, 64))};
}

}  // namespace

Parameters read_parameters(const Environment& environment) {
  const auto value = [&](std::string_view name) {
    return environment(fmt::format("OCF_RESKEY_{}", name));
  };
  Parameters read;
  read.ovn_ctl = find_ovn_ctl(environment);
  read.master_ip = value("master_ip");
  read.nb = read_database(environment, "nb", "6641");
  read.sb = read_database(environment, "sb", "6642");
  read.manage_northd = or_else(value("manage_northd"), "no");
  read.inactive_probe = or_else(value("inactive_probe_interval"), "5000");
  read.inactive_probe_to_master = or_else(value("inactive_probe_interval_to_master"), "60000");
  read.listen_on_master_ip_only = or_else(value("listen_on_master_ip_only"), "yes");
  read.stale_policy = or_else(value("stale_policy"), "refuse");
  read.slave_score = number(environment("slave_score"), read.slave_score);
  read.master_score = number(environment("master_score"), read.master_score);

  read.instance = or_else(environment("OCF_RESOURCE_INSTANCE"), "ovndb_servers");
  read.instance = read.instance.substr(0, read.instance.find(':'));
  read.node = find_node(environment);
  const auto timeout = parse_number<std::int64_t>(value("CRM_meta_timeout"));
  const bool sane = timeout && *timeout > 0 && *timeout <= kLongestTimeoutMs;
  read.timeout = sane ? Duration(std::chrono::milliseconds(*timeout)) : kDefaultTimeout;
  read.check_level = number(environment("OCF_CHECK_LEVEL"), 0);
  read.probe = or_else(value("CRM_meta_interval"), "0") == "0";
  const std::string role = value("CRM_meta_role");
  read.promoted_role = role == "Master" || role == "Promoted";

  read.sbin = find_sbin(environment);
  read.cib = or_else(environment("CIB_file"), "/var/lib/pacemaker/cib/cib.xml");
  read.report_socket = or_else(environment("WARDMOTE_REPORT_SOCKET"),
                               fmt::format("/run/wardmote/{}.sock", read.instance));
  read.log_file = or_else(environment("HA_LOGFILE"), environment("PCMK_logfile"));
  // As OVN's scripts/ovn-lib.
  const std::string system = or_else(environment("OVN_SYSCONFDIR"), "/etc");
  read.run_dir = or_else(environment("OVN_RUNDIR"), "/var/run/ovn");
  read.etc_dir = system + "/ovn";
  read.data_dir = environment("OVN_DBDIR");
  if (read.data_dir.empty())
    read.data_dir = environment("OVN_SYSCONFDIR").empty() ? "/var/lib/ovn" : system + "/ovn";
  return read;
}

std::optional<Problem> check_parameters(const Parameters& parameters) {
  if (parameters.master_ip.empty())
    return Problem{Code::kConfigured, "master_ip is not set: it is the address of the active node"};
  if (!numeric_address(parameters.master_ip)) {
    return Problem{Code::kConfigured, fmt::format("master_ip is not an IP address: '{}'",
                                                  escape_control(parameters.master_ip, 64))};
  }
  std::optional<Problem> problem = check_database(parameters.nb, "nb");
  if (!problem) problem = check_database(parameters.sb, "sb");
  if (!problem && parameters.nb.port == parameters.sb.port) {
    problem =
        Problem{Code::kConfigured,
                fmt::format("nb_master_port and sb_master_port are both {}", parameters.nb.port)};
  }
  if (!problem) problem = check_word("manage_northd", parameters.manage_northd, "yes", "no");
  if (!problem)
    problem =
        check_word("listen_on_master_ip_only", parameters.listen_on_master_ip_only, "yes", "no");
  if (!problem) problem = check_word("stale_policy", parameters.stale_policy, "refuse", "promote");
  if (!problem) problem = check_probe("inactive_probe_interval", parameters.inactive_probe);
  if (!problem)
    problem = check_probe("inactive_probe_interval_to_master", parameters.inactive_probe_to_master);
  return problem;
}

std::string source_of(const Parameters& parameters, const DatabaseParameters& database) {
  return fmt::format("{}:{}:{}", database.protocol, bracketed(parameters.master_ip), database.port);
}

std::string nobody(const DatabaseParameters& database) {
  return fmt::format("tcp:{}:{}", act::failover::kNobody, database.port);
}

std::string listener_of(const Parameters& parameters, const DatabaseParameters& database) {
  const std::string host =
      parameters.listens_on_address() ? bracketed(parameters.master_ip) : "0.0.0.0";
  return fmt::format("p{}:{}:{}", database.protocol, database.port, host);
}

runtime::Endpoint endpoint_of(const Parameters& parameters, const DatabaseParameters& database) {
  std::string host = parameters.master_ip;
  if (host.starts_with('[')) host = host.substr(1, host.size() - 2);
  const std::uint16_t port = parse_number<std::uint16_t>(database.port).value_or(0);
  if (database.protocol != "ssl") return runtime::Endpoint::tcp(host, port);
  runtime::TlsSettings settings;
  settings.ca = database.ca;
  settings.certificate = database.certificate;
  settings.key = database.key;
  settings.trust = runtime::TlsSettings::Trust::kChain;
  return runtime::Endpoint::tls_over_tcp(host, port, std::move(settings));
}

act::failover::ReplicaFiles nb_files(const Parameters& parameters) {
  const std::string base = parameters.run_dir + "/ovnnb_db.";
  return {"OVN_Northbound", base + "ctl", base + "sock", base + "pid"};
}

act::failover::ReplicaFiles sb_files(const Parameters& parameters) {
  const std::string base = parameters.run_dir + "/ovnsb_db.";
  return {"OVN_Southbound", base + "ctl", base + "sock", base + "pid"};
}

std::string database_file(const Parameters& parameters, std::string_view database) {
  const std::string_view name = database == "OVN_Southbound" ? "ovnsb_db.db" : "ovnnb_db.db";
  return fmt::format("{}/{}", parameters.data_dir, name);
}

}  // namespace wardmote::cli::ocf
