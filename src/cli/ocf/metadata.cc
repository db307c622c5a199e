#include "cli/ocf/metadata.h"

#include <array>
#include <iterator>
#include <string>
#include <string_view>

#include "base/format.h"
#include "base/version.h"

namespace wardmote::cli::ocf {
namespace {

struct Parameter {
  std::string_view name;
  std::string_view summary;
  std::string_view text;
  std::string_view fallback;
  bool required = false;
};

constexpr auto kParameters = std::to_array<Parameter>({
    {"ovn_ctl", "ovn-ctl script", "The program that starts and stops the servers.", ""},
    {"master_ip", "address of the active node",
     "The IP address at which clients find the active databases, and from which the other nodes "
     "copy. Another resource (IPaddr2) or a load balancer brings it to the promoted node.",
     "", true},
    {"nb_master_port", "northbound port", "The port of the active northbound database.", "6641"},
    {"nb_master_protocol", "northbound protocol",
     "How the northbound database is reached: tcp or ssl.", "tcp"},
    {"sb_master_port", "southbound port", "The port of the active southbound database.", "6642"},
    {"sb_master_protocol", "southbound protocol",
     "How the southbound database is reached: tcp or ssl.", "tcp"},
    {"manage_northd", "manage ovn-northd",
     "yes: ovn-northd runs on the promoted node, and nowhere else.", "no"},
    {"inactive_probe_interval", "inactivity probe to clients",
     "The inactivity probe (ms) of the row in Connection that the agent makes.", "5000"},
    {"inactive_probe_interval_to_master", "inactivity probe to the active node",
     "The inactivity probe (ms) of a backup to the active node.", "60000"},
    {"listen_on_master_ip_only", "listen on master_ip only",
     "yes: the databases listen on master_ip. no: an external load balancer has master_ip, and the "
     "active node alone listens, on all addresses.",
     "yes"},
    {"ovn_nb_db_privkey", "northbound private key", "The private key of the northbound database.",
     "/etc/openvswitch/ovnnb-privkey.pem"},
    {"ovn_nb_db_cert", "northbound certificate", "The certificate of the northbound database.",
     "/etc/openvswitch/ovnnb-cert.pem"},
    {"ovn_nb_db_cacert", "northbound CA", "The CA certificate of the northbound database.",
     "/etc/openvswitch/cacert.pem"},
    {"ovn_sb_db_privkey", "southbound private key", "The private key of the southbound database.",
     "/etc/openvswitch/ovnsb-privkey.pem"},
    {"ovn_sb_db_cert", "southbound certificate", "The certificate of the southbound database.",
     "/etc/openvswitch/ovnsb-cert.pem"},
    {"ovn_sb_db_cacert", "southbound CA", "The CA certificate of the southbound database.",
     "/etc/openvswitch/cacert.pem"},
    {"stale_policy", "what to do with an old copy",
     "refuse: a copy that is known to be empty or older than another is not promoted, and the "
     "reason "
     "is shown. promote: it is promoted all the same, and what only the other copy has is lost. "
     "For "
     "the time in which the better copy is gone for good.",
     "refuse"},
});

struct Action {
  std::string_view name;
  std::string_view timeout;
  std::string_view more;
};

constexpr auto kActions = std::to_array<Action>({
    {"start", "30s", ""},
    {"stop", "20s", ""},
    {"promote", "50s", ""},
    {"demote", "50s", ""},
    {"notify", "20s", ""},
    {"monitor", "20s", R"( depth="0" interval="10s" role="Master")"},
    {"monitor", "20s", R"( depth="0" interval="30s" role="Slave")"},
    {"monitor", "20s", R"( depth="10" interval="60s" role="Master")"},
    {"meta-data", "5s", ""},
    {"validate-all", "20s", ""},
});

}  // namespace

std::string metadata(std::string_view ovn_ctl) {
  std::string text = fmt::format(
      R"(<?xml version="1.0"?>
<!DOCTYPE resource-agent SYSTEM "ra-api-1.dtd">
<resource-agent name="ovndb-servers" version="{}">
<version>1.0</version>
<longdesc lang="en">
The northbound and the southbound database of OVN in active/backup mode, as a promotable clone with notify=true. Both have the same role on a node. A copy that is known to be empty or older than another is never promoted, and a backup never copies from itself, from an empty or from an older server. Takes the parameters of OVN's own ovndb-servers, and may replace it node by node.
</longdesc>
<shortdesc lang="en">OVN databases in active/backup mode</shortdesc>
<parameters>
)",
      kVersion);
  for (const Parameter& one : kParameters) {
    const std::string_view fallback = one.name == "ovn_ctl" ? ovn_ctl : one.fallback;
    const std::string given = fallback.empty() ? "" : fmt::format(R"( default="{}")", fallback);
    fmt::format_to(std::back_inserter(text),
                   R"(<parameter name="{}" unique="0" required="{}">
<longdesc lang="en">{}</longdesc>
<shortdesc lang="en">{}</shortdesc>
<content type="string"{}/>
</parameter>
)",
                   one.name, one.required ? 1 : 0, one.text, one.summary, given);
  }
  text += "</parameters>\n<actions>\n";
  for (const Action& one : kActions)
    fmt::format_to(std::back_inserter(text), "<action name=\"{}\" timeout=\"{}\"{}/>\n", one.name,
                   one.timeout, one.more);
  text += "</actions>\n</resource-agent>\n";
  return text;
}

std::string usage(std::string_view program) {
  return fmt::format(
      "usage: {} {{start|stop|status|monitor|promote|demote|notify|validate-all|meta-data}}\n\n"
      "Expects to have a fully populated OCF RA-compliant environment set.\n",
      program);
}

}  // namespace wardmote::cli::ocf
