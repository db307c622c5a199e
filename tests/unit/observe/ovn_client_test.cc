#include "observe/ovn/client.h"

#include <gtest/gtest.h>

#include <chrono>
#include <map>

#include "net/asio_runtime.h"
#include "support/ovn_captures.h"

namespace wardmote::observe::ovn {
namespace {

using judge::ReasonCode;
using runtime::Deadline;
using runtime::Task;
using namespace std::chrono_literals;

constexpr std::string_view kRow =
    R"([{"rows":[{"cid":["uuid","b563dad3-5d5e-4b38-a150-859542fb32c9"],"connected":true,"index":4,"leader":true,)"
    R"("model":"clustered","sid":["uuid","dea645fa-f66d-419f-89d2-9ef5ed65767e"]}]}])";

/// Answers commands from a table: the words of a command that a key is one of choose the row.
class FakeRunner {
 public:
  std::map<std::string, Result<std::string>> answers;
  std::vector<std::vector<std::string>> commands;
  std::vector<Deadline> deadlines;

  Runner runner() {
    return [this](std::vector<std::string> argv, Deadline deadline) {
      return answer(this, std::move(argv), deadline);
    };
  }

 private:
  static Task<Result<std::string>> answer(FakeRunner* self, std::vector<std::string> argv,
                                          Deadline deadline) {
    self->commands.push_back(argv);
    self->deadlines.push_back(deadline);
    std::string command;
    for (const std::string& word : argv) command += word + " ";
    for (const auto& [words, result] : self->answers) {
      if (command.contains(words)) co_return result;
    }
    co_return fail(Errc::kMissing, "run {}", argv.front());
  }
};

class ClientTest : public ::testing::Test {
 protected:
  HealthSnapshot health(Database database, std::optional<Deadline> deadline = {}) {
    Client client(runtime, options, fake.runner());
    return net::run_task(runtime, client.health(database, deadline, "ctl-1"));
  }

  static std::vector<ClientErrorCode> codes(const HealthSnapshot& snapshot) {
    std::vector<ClientErrorCode> codes;
    for (const ClientError& error : snapshot.errors) codes.push_back(error.code);
    return codes;
  }

  net::AsioRuntime runtime;
  ClientOptions options;
  FakeRunner fake{.answers = {{"query", std::string(kRow)},
                              {"cluster/status", testing::statuses_of("01-healthy.txt").at(0)}}};
};

using Codes = std::vector<ClientErrorCode>;

TEST_F(ClientTest, AHealthyLeaderWithEveryFieldFilled) {
  const HealthSnapshot snapshot = health(Database::kNorthbound);
  EXPECT_TRUE(snapshot.errors.empty());
  EXPECT_EQ(snapshot.local, (ServerLocalView{true, true, "b563dad3-5d5e-4b38-a150-859542fb32c9",
                                             "dea645fa-f66d-419f-89d2-9ef5ed65767e", 4}));
  ASSERT_TRUE(snapshot.full.has_value());
  EXPECT_EQ(snapshot.full->name, "OVN_Northbound");
  EXPECT_EQ(snapshot.full->role, "leader");
  EXPECT_EQ(snapshot.full->term, 1U);
  EXPECT_EQ(snapshot.full->index, 4U);
  EXPECT_TRUE(snapshot.full->connected);
  ASSERT_EQ(snapshot.full->servers.size(), 3U);
  const ClusterServer& peer = snapshot.full->servers[0];
  EXPECT_EQ(peer.sid, "1430");
  EXPECT_EQ(peer.role, "follower");
  EXPECT_TRUE(peer.connected);
  EXPECT_EQ(peer.last_message_ms, 336U);
  EXPECT_EQ(peer.match_index, 4U);
  EXPECT_EQ(snapshot.full->servers[1].role, "leader");
  EXPECT_TRUE(snapshot.full->servers[1].self);
  EXPECT_TRUE(snapshot.has_quorum());
  EXPECT_TRUE(snapshot.is_leader());
  EXPECT_EQ(snapshot.stale_member_count(3), 0U);
  EXPECT_EQ(snapshot.stale_member_count(2), 1U);
  EXPECT_EQ(snapshot.opinion.member, "ctl-1");
  EXPECT_EQ(snapshot.opinion.mode, judge::raft::Mode::kClustered);
  EXPECT_TRUE(snapshot.opinion.status && snapshot.opinion.local);
}

TEST_F(ClientTest, CommandsAreThoseOfTheOriginal) {
  options.use_tls = true;
  options.key = "/run/tls/key";
  options.certificate = "/run/tls/cert";
  options.ca_certificate = "/run/tls/cacert";
  options.sb_ovsdb = "ssl:10.0.0.1:6642";
  health(Database::kSouthbound);
  ASSERT_EQ(fake.commands.size(), 2U);
  EXPECT_EQ(fake.commands[0],
            (std::vector<std::string>{"ovsdb-client", "-p", "/run/tls/key", "-c", "/run/tls/cert",
                                      "-C", "/run/tls/cacert", "query", "ssl:10.0.0.1:6642",
                                      codec::select_server_row("OVN_Southbound")}));
  EXPECT_EQ(fake.commands[1],
            (std::vector<std::string>{"ovn-appctl", "-t", "/var/run/ovn/ovnsb_db.ctl",
                                      "cluster/status", "OVN_Southbound"}));
}

TEST_F(ClientTest, FiveSecondsWhereTheCallerHasNoDeadline) {
  const TimePoint before = runtime.now();
  health(Database::kNorthbound);
  EXPECT_GE(fake.deadlines.at(0).at, before + 5s);
  EXPECT_LE(fake.deadlines.at(0).at, runtime.now() + 5s);
}

TEST_F(ClientTest, TheDeadlineOfTheCallerGoesToBothCommands) {
  const Deadline deadline = runtime.deadline_in(1s);
  health(Database::kNorthbound, deadline);
  EXPECT_EQ(fake.deadlines, (std::vector<Deadline>{deadline, deadline}));
}

TEST_F(ClientTest, ALocalViewSurvivesAFailingStatus) {
  fake.answers.insert_or_assign("cluster/status",
                                fail(Errc::kRejected, "ovn-appctl: exit 2: unknown cluster"));
  const HealthSnapshot snapshot = health(Database::kNorthbound);
  EXPECT_TRUE(snapshot.local.has_value());
  EXPECT_FALSE(snapshot.full.has_value());
  EXPECT_EQ(codes(snapshot), Codes{ClientErrorCode::kStatusFailed});
  EXPECT_TRUE(snapshot.errors[0].context.contains("unknown cluster"));
  EXPECT_EQ(snapshot.opinion.status_source.reason.code, ReasonCode::kUnknownCluster);
}

TEST_F(ClientTest, AStatusSurvivesAFailingQuery) {
  fake.answers.insert_or_assign("query", fail(Errc::kTimeout, "run ovsdb-client"));
  const HealthSnapshot snapshot = health(Database::kNorthbound);
  EXPECT_FALSE(snapshot.local.has_value());
  EXPECT_TRUE(snapshot.full.has_value());
  EXPECT_EQ(codes(snapshot), Codes{ClientErrorCode::kQueryFailed});
  EXPECT_EQ(snapshot.opinion.local_source.reason.code, ReasonCode::kHung);
  EXPECT_FALSE(snapshot.has_quorum()) << "not known is not yes";
}

TEST_F(ClientTest, EachErrorCaseHasItsCode) {
  const auto query = [&](std::string output) {
    fake.answers.insert_or_assign("query", std::move(output));
    return codes(health(Database::kNorthbound));
  };
  EXPECT_EQ(query("ovsdb-client: oops"), Codes{ClientErrorCode::kQueryUnreadable});
  EXPECT_EQ(query(R"([{"rows":[]}])"), Codes{ClientErrorCode::kNoRow});
  EXPECT_EQ(query(R"([{"error":"syntax error","details":"No table named Nope."}])"),
            Codes{ClientErrorCode::kQueryFailed});
  EXPECT_EQ(
      query(testing::lines_after("27-standalone.txt", "[{\"rows\"").empty()
                ? ""
                : "[{\"rows\"" + testing::lines_after("27-standalone.txt", "[{\"rows\"").at(0)),
      Codes{ClientErrorCode::kBadId});
  EXPECT_EQ(
      query(
          R"([{"rows":[{"cid":["uuid"],"sid":["set",[]],"index":4,"leader":true,"connected":true}]}])"),
      Codes{ClientErrorCode::kBadId});
  fake.answers.insert_or_assign("cluster/status", std::string("dea6\nRole: leader\n"));
  EXPECT_EQ(query(std::string(kRow)), Codes{ClientErrorCode::kStatusUnreadable});
  options.nb_control.clear();
  EXPECT_EQ(query(std::string(kRow)), Codes{ClientErrorCode::kControlPathMissing});
  EXPECT_EQ(parse_database("OVN_IC_Northbound").error().code, ClientErrorCode::kUnknownDatabase);
  EXPECT_EQ(parse_database("OVN_Southbound"), Database::kSouthbound);
}

TEST_F(ClientTest, OneDatabaseFailingDoesNotHideTheOther) {
  fake.answers.insert_or_assign("OVN_Northbound", fail(Errc::kRejected, "connection refused"));
  Client client(runtime, options, fake.runner());
  const BothHealth both = net::run_task(runtime, client.health_both());
  EXPECT_EQ(codes(both.northbound),
            (Codes{ClientErrorCode::kQueryFailed, ClientErrorCode::kStatusFailed}));
  EXPECT_FALSE(both.northbound.local || both.northbound.full);
  EXPECT_TRUE(both.southbound.local && both.southbound.full);
  EXPECT_TRUE(both.southbound.errors.empty());
}

TEST(ClusterStatus, ConnectedMeansHeardFromLately) {
  // Leader of 08: 499b is stopped; its connection is down, and it was heard 28 s ago.
  const auto stopped =
      read_cluster_status(testing::statuses_of("08-follower-stopped.txt").at(0), 10s);
  ASSERT_TRUE(stopped.has_value());
  for (const ClusterServer& server : stopped->servers) {
    EXPECT_EQ(server.connected, server.self || server.last_message_ms.value_or(0) <= 10'000)
        << server.sid;
  }
  // A leader of OVS 2.12 prints no `last msg`; indexes tell nothing of who lives.
  const auto old = read_cluster_status(
      "dea6\nRole: leader\nTerm: 1\nLeader: self\nConnections: ->1430 (->499b)\nServers:\n"
      "    1430 (1430 at tcp:127.0.0.1:16643) next_index=5 match_index=4\n"
      "    499b (499b at tcp:127.0.0.1:16642) next_index=5 match_index=4\n",
      10s);
  ASSERT_TRUE(old.has_value());
  EXPECT_TRUE(old->servers[0].connected);
  EXPECT_FALSE(old->servers[1].connected);
}

TEST(ProcessRunner, TrimsOutputAndFallsBackToStandardError) {
  net::AsioRuntime runtime;
  const Runner runner = process_runner(runtime.processes());
  const auto run = [&](std::string script) {
    return net::run_task(runtime,
                         runner({"sh", "-c", std::move(script)}, runtime.deadline_in(60s)));
  };
  EXPECT_EQ(run("echo; echo ' fine '; echo"), "fine");
  EXPECT_EQ(run("echo words; echo noise >&2; exit 3").error(),
            (Error{Errc::kRejected, "sh: exit 3: words"}));
  EXPECT_EQ(run("echo words >&2; exit 3").error(), (Error{Errc::kRejected, "sh: exit 3: words"}));
}

}  // namespace
}  // namespace wardmote::observe::ovn
