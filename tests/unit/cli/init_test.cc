#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "cli/exit_code.h"
#include "cli/init/detect.h"
#include "cli/init/draft.h"
#include "cli/init/report.h"
#include "observe/kinds.h"

namespace wardmote::cli {
namespace {

namespace fs = std::filesystem;

/// The root of a machine, made of empty files.
class InitTest : public ::testing::Test {
 protected:
  ~InitTest() override { fs::remove_all(root_); }

  void put(const std::string& path, const std::string& bytes = "") const {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << bytes;
  }
  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const Found& found : detect(root_)) names.push_back(found.name + " " + found.kind);
    return names;
  }

  const fs::path root_ =
      fs::temp_directory_path() / ("wardmote-init-" + std::to_string(::getpid()));
};

TEST_F(InitTest, FindsNothingOnAnEmptyMachine) {
  EXPECT_TRUE(detect(root_).empty());
  EXPECT_FALSE(watches_anything({}, observe::probe_kinds()));
  EXPECT_TRUE(draft_config({}, "ctl-1", observe::probe_kinds()).contains("Nothing was found"));
}

TEST_F(InitTest, FindsWhatRunsByItsFiles) {
  put("run/ovn/ovnnb_db.ctl");
  put("run/ovn/ovnnb_db.sock");
  put("var/run/ovn/ovnnb_db.ctl");  // the same by another path
  put("run/ovn/ovnsb_db.ctl");
  put("run/calico/bird.ctl");
  put("run/frr/bgpd.pid", "12\n");
  put("proc/net/tcp",
      "  sl  local_address rem_address   st\n"
      "   0: 0100007F:238B 00000000:0000 0A 00000000:00000000\n"
      "   1: 0100007F:0016 00000000:0000 0A 00000000:00000000\n");
  put("etc/service/enabled/bird/supervise/status", std::string(20, '\0'));
  put("etc/service/enabled/felix/supervise/status", std::string(20, '\0'));
  put("run/service/web/supervise/status", std::string(35, '\0'));
  put("service/old/supervise/status", std::string(18, '\0'));
  put("etc/service/enabled/stranger/supervise/status", "what is this");
  EXPECT_EQ(names(), (std::vector<std::string>{
                         "ovn-nb ovn-cluster", "ovn-sb ovn-cluster", "bird bird",
                         "frr-bgpd-process process", "felix-live http", "felix-ready http",
                         "bird-service runit", "felix runit", "web s6", "old daemontools"}));
}

// systemd makes links there, `invocation:NAME`, to the id of the run.
TEST_F(InitTest, FindsUnitsThatAControlPlaneRestsOn) {
  for (const char* const unit : {"invocation:kubelet.service", "invocation:ovn-controller.service",
                                 "invocation:cron.service", "invocation:etcd.socket",
                                 "log-level-max:etcd.service", "invocation:bird.service"})
    put(std::string("run/systemd/units/") + unit);
  put("run/bird/bird.ctl");
  EXPECT_EQ(names(), (std::vector<std::string>{"bird bird", "bird-unit systemd", "kubelet systemd",
                                               "ovn-controller systemd"}));
  const std::string draft = draft_config(detect(root_), "ctl-1", observe::probe_kinds());
  EXPECT_TRUE(draft.contains("unit: kubelet.service")) << draft;
}

TEST_F(InitTest, WritesWhatItFoundWithWhereItWasFound) {
  put("run/ovn/ovnnb_db.ctl");
  put("run/ovn/ovnnb_db.sock");
  put("run/calico/bird.ctl");
  const std::string draft = draft_config(detect(root_), "ctl-1", observe::probe_kinds());
  for (const char* line :
       {"  # /run/ovn/ovnnb_db.ctl\n  - name: ovn-nb\n", "      database: OVN_Northbound\n",
        "        - {name: ctl-1, control: /run/ovn/ovnnb_db.ctl, ovsdb: "
        "unix:/run/ovn/ovnnb_db.sock}\n",
        "  - {name: bird, bird: {socket: /run/calico/bird.ctl, policy: calico}, every: 5s, "
        "timeout: 2s}\n"}) {
    EXPECT_TRUE(draft.contains(line)) << line << "\nin\n" << draft;
  }
}

/// By other rules a fresh node without peers, or one with a dead peer, would not be ready.
TEST_F(InitTest, ANodeOfCalicoIsJudgedByItsRules) {
  put("run/calico/bird6.ctl");
  put("run/bird/bird.ctl");
  put("var/lib/calico/nodename", "node-1");
  const std::string draft = draft_config(detect(root_), "ctl-1", observe::probe_kinds());
  EXPECT_TRUE(
      draft.contains("bird: {socket: /run/calico/bird6.ctl, policy: calico, started_file: "
                     "/var/lib/calico/nodename}"))
      << draft;
  EXPECT_TRUE(draft.contains("bird: {socket: /run/bird/bird.ctl}, every")) << draft;
}

TEST_F(InitTest, WritesTheServersThatADatabaseNamed) {
  put("run/ovn/ovnnb_db.ctl");
  put("run/ovn/ovnsb_db.ctl");
  std::vector<Found> found = detect(root_);
  ASSERT_EQ(found.size(), 2U);
  found[0].outcome = "ok";
  found[0].said = "a cluster of 3 servers, this one is leader, term 2";
  found[0].raft_addresses = {"tcp:10.0.0.1:6643", "tcp:10.0.0.2:6643", "tcp:10.0.0.3:6643"};
  found[1].standalone = true;
  const std::string draft = draft_config(found, "ctl-1", observe::probe_kinds());
  EXPECT_TRUE(
      draft.contains("      expect: [\"tcp:10.0.0.1:6643\", \"tcp:10.0.0.2:6643\", "
                     "\"tcp:10.0.0.3:6643\"]\n"))
      << draft;
  EXPECT_TRUE(
      draft.contains("  # /run/ovn/ovnnb_db.ctl: ok, a cluster of 3 servers, this one is "
                     "leader, term 2\n"))
      << draft;
  EXPECT_TRUE(draft.contains("# ovn-sb: OVN_Southbound has no raft cluster")) << draft;
  EXPECT_FALSE(draft.contains("- name: ovn-sb")) << draft;
  EXPECT_TRUE(draft.contains("\n#data: /var/lib/wardmote\n")) << "the folder is not there";
  EXPECT_TRUE(draft_config(found, "ctl-1", observe::probe_kinds(), true)
                  .contains("\ndata: /var/lib/wardmote\n"));
}

TEST_F(InitTest, ALookIsAsBadAsItsWorstAnswer) {
  EXPECT_EQ(exit_of_found({}), Exit::kWarning);
  std::vector<Found> found = {{.name = "a", .kind = "bird", .why = "/run/a"},
                              {.name = "b", .kind = "bird", .why = "/run/b"}};
  EXPECT_EQ(exit_of_found(found), Exit::kGood) << "nobody asked";
  found[0].outcome = "ok";
  found[1].outcome = "fail";
  EXPECT_EQ(exit_of_found(found), Exit::kCritical);
  const std::string drawn = draw_found(found, {});
  EXPECT_TRUE(drawn.contains("fail")) << drawn;
  EXPECT_TRUE(drawn.contains("wardmote init")) << drawn;
}

TEST_F(InitTest, NamesOnlyKindsThatExist) {
  put("run/calico/bird.ctl");
  const std::vector<Found> found = detect(root_);
  const std::string draft = draft_config(found, "ctl-1", {});
  EXPECT_TRUE(draft.contains("# bird: this version has no probe for it (/run/calico/bird.ctl)\n"));
  EXPECT_FALSE(draft.contains("\nchecks:"));
  EXPECT_FALSE(watches_anything(found, {}));
}

TEST_F(InitTest, AHostileNameIsCleaned) {
  put("etc/service/a b\x1b[31m/supervise/status", std::string(20, '\0'));
  const std::vector<Found> found = detect(root_);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].name, "a-b--31m");
  const std::string draft = draft_config(found, "ctl-1", observe::probe_kinds());
  EXPECT_EQ(draft.find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace wardmote::cli
