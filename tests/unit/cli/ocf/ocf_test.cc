// What Pacemaker says to the resource agent, and what the agent remembers and says to other nodes.
#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "cli/ocf/code.h"
#include "cli/ocf/metadata.h"
#include "cli/ocf/notification.h"
#include "cli/ocf/parameters.h"
#include "cli/ocf/published.h"
#include "cli/ocf/run.h"
#include "cli/ocf/state_file.h"
#include "judge/failover/candidate.h"

namespace wardmote::cli::ocf {
namespace {

using namespace std::chrono_literals;
using judge::failover::Position;
using judge::failover::SyncState;
using Values = std::map<std::string, std::string>;

Environment with(Values values) {
  return [values = std::move(values)](const std::string& name) {
    const auto found = values.find(name);
    return found == values.end() ? std::string() : found->second;
  };
}

Parameters parameters(Values values = {}) {
  values.emplace("OCF_RESKEY_master_ip", "10.0.0.100");
  return read_parameters(with(std::move(values)));
}

TEST(OcfParameters, HaveTheDefaultsOfTheOriginal) {
  const Parameters read = parameters();
  EXPECT_EQ(read.nb.port, "6641");
  EXPECT_EQ(read.sb.port, "6642");
  EXPECT_EQ(read.nb.protocol, "tcp");
  EXPECT_EQ(read.manage_northd, "no");
  EXPECT_EQ(read.inactive_probe, "5000");
  EXPECT_EQ(read.inactive_probe_to_master, "60000");
  EXPECT_TRUE(read.listens_on_address());
  EXPECT_EQ(read.nb.key, "/etc/openvswitch/ovnnb-privkey.pem");
  EXPECT_EQ(read.sb.certificate, "/etc/openvswitch/ovnsb-cert.pem");
  EXPECT_EQ(read.nb.ca, "/etc/openvswitch/cacert.pem");
  EXPECT_EQ(read.slave_score, 5);
  EXPECT_EQ(read.master_score, 10);
  EXPECT_FALSE(check_parameters(read));
}

TEST(OcfParameters, TheEnvironmentOfTheOriginalCounts) {
  const Parameters read = parameters({{"OVN_CTL_DEFAULT", "/opt/ovn-ctl"},
                                      {"HA_SBIN_DIR", "/opt/sbin"},
                                      {"slave_score", "4"},
                                      {"master_score", "20"},
                                      {"OCF_RESOURCE_INSTANCE", "ovndb_servers:2"},
                                      {"OCF_RESKEY_CRM_meta_on_node", "n1"},
                                      {"OVN_RUNDIR", "/run/x"},
                                      {"OVN_SYSCONFDIR", "/opt/etc"}});
  EXPECT_EQ(read.ovn_ctl, "/opt/ovn-ctl");
  EXPECT_EQ(read.sbin, "/opt/sbin");
  EXPECT_EQ(read.slave_score, 4);
  EXPECT_EQ(read.master_score, 20);
  EXPECT_EQ(read.instance, "ovndb_servers");
  EXPECT_EQ(read.node, "n1");
  EXPECT_EQ(nb_files(read).control, "/run/x/ovnnb_db.ctl");
  EXPECT_EQ(read.data_dir, "/opt/etc/ovn");
}

TEST(OcfParameters, ABundleIsKnownByItsHost) {
  const Parameters read = parameters({{"OCF_RESKEY_CRM_meta_on_node", "bundle-0"},
                                      {"OCF_RESKEY_CRM_meta_container_attribute_target", "host"},
                                      {"OCF_RESKEY_CRM_meta_physical_host", "n7"}});
  EXPECT_EQ(read.node, "n7");
}

TEST(OcfParameters, WhatIsWrongIsWrongOnEveryNode) {
  const std::vector<Values> wrong = {{{"OCF_RESKEY_nb_master_port", "abc"}},
                                     {{"OCF_RESKEY_nb_master_port", "0"}},
                                     {{"OCF_RESKEY_sb_master_port", "65536"}},
                                     {{"OCF_RESKEY_nb_master_protocol", "xyz"}},
                                     {{"OCF_RESKEY_listen_on_master_ip_only", "maybe"}},
                                     {{"OCF_RESKEY_manage_northd", "1"}},
                                     {{"OCF_RESKEY_inactive_probe_interval", "5s"}},
                                     {{"OCF_RESKEY_stale_policy", "maybe"}},
                                     {{"OCF_RESKEY_master_ip", "controller"}},
                                     {{"OCF_RESKEY_master_ip", "10.0.0"}},
                                     {{"OCF_RESKEY_master_ip", "10.0.0.256"}},
                                     {{"OCF_RESKEY_nb_master_port", "6642"}}};
  for (const Values& values : wrong) {
    const auto problem = check_parameters(parameters(values));
    ASSERT_TRUE(problem) << values.begin()->second;
    EXPECT_EQ(problem->code, Code::kConfigured);
    EXPECT_NE(problem->text.find(values.begin()->first.substr(11)), std::string::npos);
  }
  EXPECT_TRUE(check_parameters(read_parameters(with({}))));
}

TEST(OcfParameters, AnIpv6AddressGetsItsBrackets) {
  for (const std::string address : {"fd00::100", "[fd00::100]"}) {
    const Parameters read = parameters({{"OCF_RESKEY_master_ip", address}});
    EXPECT_FALSE(check_parameters(read));
    EXPECT_EQ(source_of(read, read.nb), "tcp:[fd00::100]:6641");
    EXPECT_EQ(listener_of(read, read.sb), "ptcp:6642:[fd00::100]");
    EXPECT_EQ(endpoint_of(read, read.nb).host, "fd00::100");
  }
}

TEST(OcfNotification, BothSpellingsOfThePromotedRoleAreRead) {
  const std::string prefix = "OCF_RESKEY_CRM_meta_notify_";
  EXPECT_EQ(read_notification(with({{prefix + "master_uname", "n1"}})).promoted,
            std::vector<std::string>{"n1"});
  EXPECT_EQ(read_notification(with({{prefix + "promoted_uname", "n2"}})).promoted,
            std::vector<std::string>{"n2"});
  EXPECT_TRUE(read_notification(with({{prefix + "promoted_uname", " "}})).promoted.empty());
  const std::vector<std::string> backups = {"n2", "n3"};
  EXPECT_EQ(read_notification(with({{prefix + "slave_uname", "n2 n3"}})).unpromoted, backups);
  EXPECT_EQ(read_notification(with({{prefix + "unpromoted_uname", "n2 n3"}})).unpromoted, backups);
}

TEST(OcfNotification, WhoIsActiveIsWhoStaysSo) {
  Notification now;
  now.promoted = {"n1", "n2"};
  now.demoting = {"n1"};
  EXPECT_EQ(active_node(now, "n9"), "n2");
  now.stopping = {"n2"};
  EXPECT_EQ(active_node(now, ""), "");
}

TEST(OcfNotification, ANameInsideAnotherIsAnotherNode) {
  Notification now;
  now.starting = {"node10", "node2"};
  EXPECT_EQ(active_node(now, "node1"), "");
  EXPECT_EQ(active_node(now, ""), "");
  EXPECT_EQ(active_node(now, "node2"), "node2");
}

TEST(OcfState, IsReadBackAsItWasWritten) {
  State state;
  state.promoted_nb = act::failover::ProcessId{12, TimePoint(345s)};
  state.promoted_sb = act::failover::ProcessId{13, TimePoint(346s)};
  state.epoch = 7;
  state.sync = SyncState::kWasActive;
  state.diverged = state.matched = state.yielded = state.unannounced = true;
  state.quarantine = "it was writable";
  state.told = "5 7 synced good";
  state.told_at = 99;
  EXPECT_EQ(parse_state(format(state)), state);
  EXPECT_EQ(parse_state(""), State());
  EXPECT_EQ(parse_state("epoch x\npromoted-nb 1\nunknown 3\n\n"), State());
}

TEST(OcfPublished, APositionIsReadBackAsItWasPublished) {
  Position position;
  position.epoch = 4;
  position.empty = true;
  position.sync = SyncState::kSynced;
  position.counter = 17;
  position.size = 90;
  position.changed = WallTime(1763625194118ms);
  position.author = "n1";
  const auto peer = parse_published("n2", publish(position, true, true));
  EXPECT_EQ(peer.name, "n2");
  EXPECT_EQ(peer.position, position);
  EXPECT_TRUE(peer.quarantined && peer.settled);
  EXPECT_FALSE(parse_published("n2", publish(position, false, false)).settled);
  // A client of the database can write any author.
  position.author = "n1;epoch:99";
  EXPECT_EQ(parse_published("n2", publish(position, false, false)).position.epoch, position.epoch);
}

TEST(OcfPublished, TheAnswerOfAttrdUpdater) {
  const auto peers = parse_peers(
      "name=\"wardmote-ovndb_servers\" host=\"n1\" value=\"v:0.1.0;epoch:3;empty:no\"\n"
      "name=\"wardmote-ovndb_servers\" host=\"n2\" value=\"(null)\"\n"
      "garbage\nname=\"x\" host=\"\" value=\"v:1\"\n");
  ASSERT_EQ(peers.size(), 1U);
  EXPECT_EQ(peers[0].name, "n1");
  EXPECT_EQ(peers[0].position.epoch, 3U);
}

TEST(OcfAgent, IsKnownByItsName) {
  EXPECT_TRUE(is_agent("/usr/lib/ocf/resource.d/ovn/ovndb-servers"));
  EXPECT_TRUE(is_agent("ovndb-servers.ocf"));
  EXPECT_FALSE(is_agent("/usr/bin/wardmote"));
}

TEST(OcfAgent, AnUnknownActionIsUnimplemented) {
  EXPECT_EQ(run_action("ovndb-servers", {"bogus"}, with({})), Code::kUnimplemented);
  EXPECT_EQ(run_action("ovndb-servers", {}, with({})), Code::kUnimplemented);
}

TEST(OcfAgent, ANodeWithoutOvnIsNotForIt) {
  const Values values = {{"OCF_RESKEY_master_ip", "10.0.0.1"}, {"OCF_RESKEY_ovn_ctl", "/no/such"}};
  EXPECT_EQ(run_action("ovndb-servers", {"validate-all"}, with(values)), Code::kInstalled);
  EXPECT_EQ(run_action("ovndb-servers", {"start"}, with(values)), Code::kInstalled);
}

TEST(OcfMetadata, HasEveryParameterOfTheOriginal) {
  const std::string text = metadata("/usr/share/ovn/scripts/ovn-ctl");
  for (const std::string name :
       {"ovn_ctl", "master_ip", "nb_master_port", "nb_master_protocol", "sb_master_port",
        "sb_master_protocol", "manage_northd", "inactive_probe_interval",
        "inactive_probe_interval_to_master", "listen_on_master_ip_only", "ovn_nb_db_privkey",
        "ovn_nb_db_cert", "ovn_nb_db_cacert", "ovn_sb_db_privkey", "ovn_sb_db_cert",
        "ovn_sb_db_cacert"})
    EXPECT_NE(text.find("<parameter name=\"" + name + "\""), std::string::npos) << name;
}

}  // namespace
}  // namespace wardmote::cli::ocf
