#include "cli/doctor/diagnosis.h"

#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "cli/doctor/rights.h"
#include "cli/doctor/tar.h"
#include "cli/render/fields.h"
#include "unit/cli/fixture.h"

namespace wardmote::cli {
namespace {

namespace json = boost::json;
using judge::Outcome;

const Diagnosis* find(const std::vector<Diagnosis>& diagnoses, std::string_view what) {
  const auto found = std::ranges::find(diagnoses, what, &Diagnosis::what);
  return found == diagnoses.end() ? nullptr : &*found;
}

TEST(Doctor, NamesAPolicyThatWasToldToActAndOnlyObserves) {
  const auto found = diagnose_plans(json::parse(
      R"({"policies": [{"name": "a", "mode": "act", "acts": true, "reason": null},
                       {"name": "b", "mode": "observe", "acts": false, "reason": "x"},
                       {"name": "c", "mode": "act", "acts": false, "reason": "needs sole"}]})"));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].outcome, judge::Outcome::kWarn);
  EXPECT_EQ(found[0].says, "needs sole");
}

TEST(Doctor, FindsNothingWrongWithAWellMachine) {
  const auto found = diagnose({.clock_synchronised = true,
                               .agent_descriptors = 20,
                               .agent_limit = 1024,
                               .socket_mode = 0660,
                               .cpu_pressure = 3});
  EXPECT_EQ(found.size(), 3U);
  EXPECT_EQ(exit_of(found), Exit::kGood);
}

TEST(Doctor, SaysWhatToDoAboutAnIllOne) {
  const auto found = diagnose({.clock_synchronised = false,
                               .agent_descriptors = 600,
                               .agent_limit = 1024,
                               .socket_mode = 0666,
                               .cpu_pressure = 80});
  for (const char* what : {"clock", "descriptors", "socket", "cpu"}) {
    const Diagnosis* const one = find(found, what);
    ASSERT_NE(one, nullptr) << what;
    EXPECT_EQ(one->outcome, Outcome::kWarn) << what;
    EXPECT_FALSE(one->advice.empty()) << what;
  }
  EXPECT_EQ(exit_of(found), Exit::kWarning);
  EXPECT_EQ(exit_of(diagnose({})), Exit::kUnknown) << "what cannot be seen is not good";
}

TEST(Doctor, NamesWhatTheAgentMayNotOpenInOneLine) {
  const auto found = diagnose_status(json::parse(R"({"version": "1", "config": null,
    "checks": [{"name": "bird", "kind": "bird", "reason": "denied", "detail": "connect unix:/run/bird/bird.ctl: denied"},
               {"name": "fine", "kind": "tcp", "reason": null}, {"name": "nb", "kind": "cluster", "reason": "denied"}],
    "clusters": [{"cluster": "nb", "members": [{"name": "ctl-1", "reason": "denied", "detail": "/run/ovn/ovnnb_db.ctl: connect: denied"},
                                               {"name": "ctl-2", "reason": "hung"}]}]})"),
                                     "1");
  const Diagnosis* const looks = find(found, "looks");
  ASSERT_NE(looks, nullptr);
  EXPECT_EQ(looks->says, "bird, nb/ctl-1: may not be opened by the agent");
  EXPECT_EQ(exit_of(found), Exit::kCritical);
}

TEST(Doctor, TellsAClosedFileFromAPeerThatRefuses) {
  const auto found = diagnose_status(json::parse(R"({"version": "1", "checks": [
    {"name": "web", "kind": "https", "reason": "denied", "detail": "https://10.0.0.1/x: TLS: it asked for a certificate of ours"}]})"),
                                     "1");
  const Diagnosis* const looks = find(found, "looks");
  ASSERT_NE(looks, nullptr);
  EXPECT_EQ(looks->says, "web: refused the agent");
  EXPECT_TRUE(looks->advice.contains("certificate"));
}

TEST(Doctor, DoesNotMissWhatIsOptionalAndAbsent) {
  const auto found = diagnose_status(json::parse(R"({"version": "1", "checks": [
    {"name": "frr", "kind": "process", "optional": true, "reason": "missing"}]})"),
                                     "1");
  EXPECT_EQ(find(found, "looks"), nullptr);
  EXPECT_EQ(exit_of(found), Exit::kGood);
}

TEST(Doctor, OpensPingsByTheKernelsSettingNotByCertificates) {
  const auto found = diagnose_status(json::parse(R"({"version": "1", "checks": [
    {"name": "gw", "kind": "ping", "reason": "denied", "detail": "open a socket for pings: denied"}]})"),
                                     "1");
  const Diagnosis* const looks = find(found, "looks");
  ASSERT_NE(looks, nullptr);
  EXPECT_EQ(looks->says, "gw: may not be sent pings by the agent");
  EXPECT_TRUE(looks->advice.contains("net.ipv4.ping_group_range"));
  EXPECT_FALSE(looks->advice.contains("certificate"));
}

TEST(Doctor, TellsOfADatabasePutAsideAndOfAKeyThatNeedsARestart) {
  const auto found = diagnose_status(json::parse(R"({"version": "1",
    "self": {"degraded": false, "complaint": null, "put_aside": "/d/wardmote.db.damaged-x"},
    "config": {"path": "/w.yaml", "hash": "ab", "applied": "now", "restart_needed": ["data"], "refused": null}})"),
                                     "1");
  const Diagnosis* const database = find(found, "database");
  ASSERT_NE(database, nullptr);
  EXPECT_EQ(database->outcome, Outcome::kWarn);
  EXPECT_TRUE(database->advice.contains("/d/wardmote.db.damaged-x"));
  EXPECT_TRUE(std::ranges::any_of(found, [](const Diagnosis& one) {
    return one.outcome == Outcome::kWarn && one.says.starts_with("data was changed");
  }));
}

using Part = WayPart::Kind;
const RefusedFile kOvsdb{"/run/ovn/ovnnb_db.ctl",
                         {{Part::kFolder, 0755, 0, "root"},
                          {Part::kFolder, 0755, 0, "root"},
                          {Part::kSocket, 0750, 0, "root"}}};
const RefusedFile kOvsdbOfAUser{
    "/run/ovn/ovnnb_db.ctl",
    {{Part::kFolder, 0755, 0, "root"}, {Part::kSocket, 0750, 114, "openvswitch"}}};
const RefusedFile kBird{"/run/bird/bird.ctl",
                        {{Part::kFolder, 0755, 0, "root"},
                         {Part::kFolder, 0775, 110, "bird"},
                         {Part::kSocket, 0660, 110, "bird"}}};
const RefusedFile kRunit{"/etc/service/x/supervise/ok",
                         {{Part::kFolder, 0755, 0, "root"},
                          {Part::kFolder, 0700, 0, "root"},
                          {Part::kFifo, 0600, 0, "root"}}};

TEST(Doctor, GivesTheSmallestRightThatOpensWhatIsRefused) {
  const AgentProcess systemd{"wardmote", AgentProcess::Manager::kSystemd};
  const std::string right =
      "install -D -m 644 /usr/share/wardmote/systemd/root-sockets.conf -t "
      "/etc/systemd/system/wardmoted.service.d && systemctl daemon-reload && systemctl restart "
      "wardmoted";
  EXPECT_EQ(remedy({&kOvsdb, 1}, systemd), right);
  EXPECT_EQ(remedy({&kRunit, 1}, systemd), right);
  EXPECT_EQ(remedy({&kOvsdbOfAUser, 1}, systemd), right) << "its group may read, and not connect";
  EXPECT_EQ(remedy({&kBird, 1}, systemd),
            "usermod -aG bird wardmote && systemctl restart wardmoted");
  const std::vector<RefusedFile> both = {kBird, kOvsdb};
  EXPECT_EQ(remedy(both, systemd), right) << "one command for all of them";
  const RefusedFile unseen{"/run/hidden/x", {}};
  EXPECT_EQ(remedy({&unseen, 1}, systemd), right);
  const RefusedFile open{"/run/x",
                         {{Part::kFolder, 0755, 0, "root"}, {Part::kSocket, 0666, 0, ""}}};
  EXPECT_TRUE(remedy({&open, 1}, systemd).contains("AppArmor"));
}

TEST(Doctor, GivesTheRemedyOfWhoeverStartsTheAgent) {
  EXPECT_EQ(remedy({&kRunit, 1}, {"wardmote", AgentProcess::Manager::kRunit}),
            "touch /etc/wardmote/root-sockets && sv restart wardmoted");
  EXPECT_EQ(remedy({&kBird, 1}, {"watch", AgentProcess::Manager::kS6}),
            "usermod -aG bird watch && s6-svc -r /run/service/wardmoted");
  EXPECT_TRUE(remedy({&kRunit, 1}, {}).contains("setpriv"));
}

TEST(Doctor, ReadsThePathOutOfAnError) {
  EXPECT_EQ(path_in("connect unix:/run/a.ctl: denied"), "/run/a.ctl");
  EXPECT_EQ(path_in("/etc/service/x/supervise/ok: denied"), "/etc/service/x/supervise/ok");
  EXPECT_EQ(path_in("open '/a b'"), "/a");
  EXPECT_EQ(path_in("http://10.0.0.1/x: denied"), "");
  EXPECT_EQ(path_in("no path, and/or none"), "");
  EXPECT_EQ(path_in(""), "");
}

TEST(Doctor, TellsOfARefusedConfigurationAndAnotherVersion) {
  const auto found =
      diagnose_status(json::parse(R"({"version": "1", "self": {"complaint": "prober starved"},
        "config": {"path": "/etc/w.yaml", "hash": "ab", "refused": {"problems": ["/etc/w.yaml:1:1: bad", "worse"]}}})"),
                      "2");
  EXPECT_EQ(find(found, "version")->outcome, Outcome::kWarn);
  EXPECT_EQ(find(found, "agent")->says, "degraded: prober starved");
  EXPECT_TRUE(find(found, "configuration")->says.contains("/etc/w.yaml:1:1: bad"));
  EXPECT_TRUE(find(found, "configuration")->advice.contains("wardmote config check /etc/w.yaml"));
}

TEST(Doctor, AFullDiskIsNoMatterOfTheCpu) {
  const auto found = diagnose_status(
      json::parse(
          R"({"version": "1", "self": {"complaint": "what it sees is not written down: full"}})"),
      "1");
  EXPECT_TRUE(find(found, "agent")->advice.contains("make room in the folder that 'data' names"));
}

TEST(Doctor, BelievesNothingThatAnAnswerIsNot) {
  for (const char* text : {"null", "[]", R"({"checks": 3, "clusters": [[]], "config": "x"})"}) {
    const auto found = diagnose_status(json::parse(text), "1");
    EXPECT_FALSE(draw_diagnoses(to_json(found), {}).empty());
  }
}

TEST(Doctor, DrawsOneLineEachAndWhatToDo) {
  EXPECT_EQ(draw_diagnoses(to_json({{"agent", Outcome::kOk, "answers"},
                                    {"clock", Outcome::kWarn, "not set", "set it"}}),
                           {}),
            "ok       agent: answers\nwarn     clock: not set\n         do: set it\n");
}

/// What tar(1) itself reads of it.
TEST(Tar, IsReadByTar) {
  Tar tar(1'700'000'000);
  tar.add("wardmote/a.txt", "hello\n");
  tar.add("wardmote/empty", "");
  tar.add("wardmote/b.txt", std::string(512, 'x'));
  const std::string file =
      testing::TempDir() + "wardmote-tar-" + std::to_string(::getpid()) + ".tar";
  std::ofstream(file, std::ios::binary) << std::move(tar).take();
  std::FILE* const listing = ::popen(("tar -tvf " + file + " 2>&1").c_str(), "r");
  std::string text;
  for (int c = std::fgetc(listing); c != EOF; c = std::fgetc(listing)) text += static_cast<char>(c);
  EXPECT_EQ(::pclose(listing), 0) << text;
  std::filesystem::remove(file);
  EXPECT_EQ(std::ranges::count(text, '\n'), 3) << text;
  EXPECT_TRUE(text.contains("-rw------- 0/0               6 2023-11-14")) << text;
  EXPECT_TRUE(text.contains("wardmote/b.txt")) << text;
}

}  // namespace
}  // namespace wardmote::cli
