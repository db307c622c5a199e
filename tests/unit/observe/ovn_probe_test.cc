#include "observe/ovn/ovn_probe.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>

#include "net/asio_runtime.h"
#include "observe/ovn/convert.h"
#include "observe/ovn/refusal.h"
#include "runtime/task_group.h"
#include "support/fake_server.h"
#include "support/ovn_captures.h"
#include "support/test_data.h"

namespace wardmote::observe::ovn {
namespace {

using judge::Outcome;
using judge::ReasonCode;
using judge::raft::Opinion;
using namespace std::chrono_literals;

/// What member number `index` of a capture said, by both ways.
Opinion opinion_of(std::string_view capture, std::size_t index) {
  Opinion opinion;
  const Result<codec::RaftStatus> status =
      codec::parse_raft_status(testing::statuses_of(capture).at(index));
  opinion.status = to_status(status.value());
  opinion.status_source = {};
  opinion.status_source.reason.code = ReasonCode::kNone;
  opinion.local_source.reason.code = ReasonCode::kNone;
  opinion.local = judge::raft::Local{
      .leader = false, .connected = opinion.status->standing == judge::raft::Standing::kMember};
  opinion.mode = judge::raft::Mode::kClustered;
  return opinion;
}

Opinion silent(ReasonCode status, ReasonCode local) {
  Opinion opinion;
  opinion.status_source.reason.code = status;
  opinion.local_source.reason.code = local;
  return opinion;
}

TEST(OvnMeaning, OfWhatRealMembersSaid) {
  EXPECT_EQ(meaning_of(opinion_of("01-healthy.txt", 0)).outcome, Outcome::kOk);
  EXPECT_EQ(meaning_of(opinion_of("01-healthy.txt", 1)).outcome, Outcome::kOk);
  EXPECT_EQ(meaning_of(opinion_of("10-noquorum-follower-survivor.txt", 0)).outcome, Outcome::kFail)
      << "disconnected";
  EXPECT_EQ(meaning_of(opinion_of("35-failed-disk-full.txt", 0)).outcome, Outcome::kFail)
      << "failed";
  EXPECT_EQ(meaning_of(opinion_of("22-joining-stuck.txt", 0)).outcome, Outcome::kWarn) << "joining";
}

TEST(OvnMeaning, OfALeaderThatLostItsConnection) {
  Opinion opinion = opinion_of("01-healthy.txt", 0);
  opinion.local->connected = false;
  EXPECT_EQ(meaning_of(opinion).outcome, Outcome::kFail);
}

TEST(OvnMeaning, OneFailingWayIsAWarningWithItsReason) {
  Opinion opinion = opinion_of("01-healthy.txt", 0);
  opinion.local.reset();
  opinion.local_source.reason = {ReasonCode::kRefused, "tcp:10.0.0.1:6641: refused"};
  const Meaning meaning = meaning_of(opinion);
  EXPECT_EQ(meaning.outcome, Outcome::kWarn);
  EXPECT_EQ(meaning.reason.code, ReasonCode::kRefused);
  opinion.local_source.reason.code = ReasonCode::kNotProbed;
  EXPECT_EQ(meaning_of(opinion).outcome, Outcome::kOk)
      << "a way that is not configured is no warning";
}

TEST(OvnMeaning, SilenceIsAFailureOnlyWhenItIsEvidence) {
  using enum ReasonCode;
  for (const ReasonCode code :
       {kHung, kRefused, kMissing, kUnreachable, kUnknownCluster, kNotClustered}) {
    EXPECT_EQ(meaning_of(silent(code, kNotProbed)).outcome, Outcome::kFail) << to_string(code);
    EXPECT_EQ(meaning_of(silent(kDenied, code)).outcome, Outcome::kFail) << to_string(code);
    EXPECT_EQ(meaning_of(silent(kDenied, code)).reason.code, code);
  }
  for (const ReasonCode code :
       {kDenied, kClosed, kProtocol, kOverLimit, kRejected, kProberStarved}) {
    EXPECT_EQ(meaning_of(silent(code, kNotProbed)).outcome, Outcome::kUnknown) << to_string(code);
    EXPECT_EQ(meaning_of(silent(kNotProbed, code)).reason.code, code);
  }
}

TEST(OvnMeaning, NotClusteredIsAFailure) {
  Opinion opinion = silent(ReasonCode::kNotClustered, ReasonCode::kNone);
  opinion.local = judge::raft::Local{.leader = true, .connected = true};
  opinion.mode = judge::raft::Mode::kStandalone;
  const Meaning meaning = meaning_of(opinion);
  EXPECT_EQ(meaning.outcome, Outcome::kFail);
  EXPECT_EQ(meaning.reason.code, ReasonCode::kNotClustered);
}

TEST(OvnReason, FromErrorsAndFromWhatCommandsPrint) {
  EXPECT_EQ(reason_of_reply(Error{Errc::kDenied, "unix:/x"}).code, ReasonCode::kDenied);
  EXPECT_EQ(reason_of_reply(Error{Errc::kDenied, "unix:/x"}).text, "unix:/x: denied");
  EXPECT_EQ(reason_of_reply(Error{Errc::kUnreachable, ""}).code, ReasonCode::kUnreachable);
  EXPECT_EQ(reason_of_reply(Error{Errc::kExhausted, ""}).code, ReasonCode::kProberStarved);
  // As captured in 03-errors.txt.
  EXPECT_EQ(reason_of_output("unknown cluster\novn-appctl: nb.ctl: server returned an error").code,
            ReasonCode::kUnknownCluster);
  EXPECT_EQ(reason_of_output("\"nosuch\" is not a valid command (use \"list-commands\" …)").code,
            ReasonCode::kNotClustered);
  EXPECT_EQ(
      reason_of_output("ovn-appctl: cannot connect to \"nb.ctl\" (No such file or directory)").code,
      ReasonCode::kMissing);
  EXPECT_EQ(reason_of_output("ovn-appctl: cannot connect to \"nb.ctl\" (Connection refused)").code,
            ReasonCode::kRefused);
}

TEST(OvnReason, OnlyTheToolsOwnWordsTellOfTheServerBehindACommand) {
  const auto code = [](int status, std::string_view output) {
    return reason_of_exit(status, output).code;
  };
  EXPECT_EQ(code(1, "ovn-appctl: cannot connect to \"nb.ctl\" (Connection refused)"),
            ReasonCode::kRefused);
  EXPECT_EQ(code(1, "ovsdb-client: failed to connect to \"unix:x\" (No such file or directory)"),
            ReasonCode::kMissing);
  EXPECT_EQ(code(2, "unknown cluster"), ReasonCode::kUnknownCluster);
  EXPECT_EQ(code(142, ""), ReasonCode::kHung) << "its own -T";
  EXPECT_EQ(code(255, "ssh: connect to host b port 22: Connection refused"), ReasonCode::kRejected);
  EXPECT_EQ(code(1, "Error from server (NotFound): pods \"ovn-central-0\" not found"),
            ReasonCode::kRejected);
  EXPECT_EQ(code(127, "sh: ovn-appctl: not found"), ReasonCode::kRejected);
  EXPECT_EQ(reason_of_exit(255, "ssh: no").text, "exit 255: ssh: no");
}

// OVS 3.4 and later, when a client asked for JSON.
TEST(OvnStatus, AWrappedReplyIsThePlainOne) {
  const std::string text = testing::statuses_of("01-healthy.txt").at(0);
  const std::string wrapped =
      fmt::format(R"({{"reply-format":"plain","reply":{}}})", codec::json_string(text));
  const StatusAnswer answer = read_status_text(wrapped);
  ASSERT_TRUE(answer.status.has_value()) << answer.reason.text;
  EXPECT_EQ(answer.status->servers.size(), 3U);
  EXPECT_EQ(read_status_text(R"({"reply-format":"plain","reply":7})").reason.code,
            ReasonCode::kProtocol);
}

TEST(OvnConvert, WordsThatAreNotKnownStayUnknown) {
  codec::RaftStatus message;
  message.standing = "meditating";
  message.role = "<error>";
  message.election_won_ms = ~std::uint64_t{0};
  message.servers.push_back(
      {.nickname = "a", .id = "dea6", .address = "tcp:1.2.3.4:1", .phase = "witness"});
  const judge::raft::Status status = to_status(message);
  EXPECT_EQ(status.standing, judge::raft::Standing::kUnknown);
  EXPECT_EQ(status.role, judge::raft::Role::kUnknown);
  EXPECT_EQ(status.servers[0].phase, judge::raft::Phase::kOther);
  EXPECT_GT(*status.election_won, 0ms) << "no overflow";
}

TEST(OvnKind, IsInTheTableAndChecksItsParameters) {
  const ProbeKind* const kind = find_kind("ovn");
  ASSERT_NE(kind, nullptr);
  EXPECT_EQ(find_kind("nosuch"), nullptr);
  EXPECT_EQ(kind->params.front().name, "control") << "the TARGET of the command line";
  net::AsioRuntime runtime;
  const auto make = [&](Params params) { return kind->make(runtime, "nb", params); };
  EXPECT_TRUE(make({{"control", "/run/ovn/ovnnb_db.ctl"}}).has_value());
  EXPECT_TRUE(make({{"ovsdb", "tcp:10.0.0.1:6641"}, {"database", "OVN_Southbound"}}).has_value());
  EXPECT_TRUE(make({{"control_command", std::vector<std::string>{"ssh", "ctl-2", "ovn-appctl"}}})
                  .has_value());
  EXPECT_TRUE(
      make({{"ovsdb_command", std::vector<std::string>{"ssh", "b", "ovsdb-client"}}}).has_value());
  EXPECT_EQ(
      make({{"ovsdb", "/x"}, {"ovsdb_command", std::vector<std::string>{"ssh"}}}).error().code,
      Errc::kInvalid);
  EXPECT_EQ(make({}).error().code, Errc::kInvalid);
  EXPECT_EQ(make({{"control", "tcp:10.0.0.1:6641"}}).error().code, Errc::kInvalid);
  EXPECT_EQ(
      make({{"control", "/x"}, {"control_command", std::vector<std::string>{"ssh"}}}).error().code,
      Errc::kInvalid);
}

TEST(OvnKind, TheNameOfASocketTellsItsDatabase) {
  net::AsioRuntime runtime;
  const auto database = [&](Params params) {
    const auto probe = make_ovn_probe(runtime, "x", params);
    return dynamic_cast<OvnProbe&>(**probe).target().database;
  };
  EXPECT_EQ(database({{"control", "/run/ovn/ovnsb_db.ctl"}}), "OVN_Southbound");
  EXPECT_EQ(database({{"control", "/run/ovn/ovn_ic_nb_db.ctl"}}), "OVN_IC_Northbound");
  EXPECT_EQ(database({{"ovsdb", "unix:/run/ovn/ovn_ic_sb_db.sock"}}), "OVN_IC_Southbound");
  EXPECT_EQ(database({{"control", "/tmp/a.ctl"}}), "OVN_Northbound");
  EXPECT_EQ(database({{"control", "/run/ovn/ovnsb_db.ctl"}, {"database", "Mine"}}), "Mine");
}

/// The one test over a real socket; all others of the kind are in tests/sim.
TEST(OvnProbe, FillsTheWholeObservation) {
  const std::string path =
      (std::filesystem::temp_directory_path() / fmt::format("wardmote-{}.ctl", ::getpid()))
          .string();
  net::AsioRuntime runtime;
  runtime::TaskGroup tasks(runtime.executor());
  const testing::FakeServer server(
      runtime,
      [&](std::string name, runtime::Task<void> task) {
        tasks.spawn(std::move(name), std::move(task));
      },
      runtime::Endpoint::unix_socket(path),
      testing::healthy_manners(testing::statuses_of("01-healthy.txt").at(0)));
  const auto probe = make_ovn_probe(runtime, "nb", {{"control", path}});
  ASSERT_TRUE(probe.has_value());
  const judge::Observation seen = net::run_task(runtime, (*probe)->look(runtime.deadline_in(60s)));
  runtime.run(tasks.stop());
  EXPECT_EQ(seen.subject, "nb");
  EXPECT_EQ(seen.outcome, Outcome::kOk) << seen.reason.text;
  EXPECT_LT(seen.begun, seen.ended);
  EXPECT_TRUE(seen.cost.fresh_connection);
  EXPECT_GT(seen.cost.bytes_in, 500U);
  EXPECT_GT(seen.cost.bytes_out, 50U);
  const auto* const opinion = std::get_if<Opinion>(&seen.facts);
  ASSERT_NE(opinion, nullptr);
  EXPECT_EQ(opinion->status->term, 1U);
}

TEST(OvnProbe, AMemberBehindACommand) {
  const std::string capture = std::string(WARDMOTE_TEST_DATA) + "/ovn/22-joining-stuck.txt";
  net::AsioRuntime runtime;
  const auto look_by = [&](std::vector<std::string> command) {
    MemberTarget target;
    target.name = "ctl-2";
    target.database = "OVN_Northbound";
    target.control_command = std::move(command);
    Member member(runtime, std::move(target));
    return net::run_task(runtime, member.look(runtime.deadline_in(60s)));
  };
  // The appended `cluster/status OVN_Northbound` are $1 and $2 of the script.
  const Opinion joining = look_by({"sh", "-c", "sed -n '/^736e/,/^Servers:/p' " + capture, "sh"});
  ASSERT_TRUE(joining.status.has_value()) << joining.status_source.reason.text;
  EXPECT_EQ(joining.status->standing, judge::raft::Standing::kJoining);
  EXPECT_EQ(joining.control_command.front(), "sh");

  EXPECT_EQ(
      look_by({"sh", "-c", "echo unknown cluster >&2; exit 2", "sh"}).status_source.reason.code,
      ReasonCode::kUnknownCluster);
  EXPECT_EQ(look_by({"/nonexistent/ovn-appctl"}).status_source.reason.code, ReasonCode::kDenied)
      << "our want of a program says nothing of the member";
}

TEST(OvnProbe, AMemberBehindTwoCommands) {
  const std::string capture = std::string(WARDMOTE_TEST_DATA) + "/ovn/01-healthy.txt";
  net::AsioRuntime runtime;
  MemberTarget target;
  target.name = "ctl-1";
  target.database = "OVN_Northbound";
  target.control_command = {"sh", "-c", "sed -n '/^dea6/,/499b at .*/p;/499b at /q' " + capture};
  // The appended query is $1 of the script.
  target.ovsdb_command = {
      "sh", "-c",
      R"(case "$1" in '["_Server",'*'"OVN_Northbound"'*) grep -m1 '^\[{"rows' )" + capture +
          ";; *) exit 9;; esac",
      "sh"};
  Member member(runtime, std::move(target));
  const Opinion opinion = net::run_task(runtime, member.look(runtime.deadline_in(60s)));
  ASSERT_TRUE(opinion.status.has_value()) << opinion.status_source.reason.text;
  ASSERT_TRUE(opinion.local.has_value()) << opinion.local_source.reason.text;
  EXPECT_TRUE(opinion.local->leader);
  EXPECT_EQ(opinion.status->role, judge::raft::Role::kLeader);
}

TEST(OvnProbe, AWayThatIsShutOrSlowSaysNothingOfTheMember) {
  net::AsioRuntime runtime;
  MemberTarget target;
  target.database = "OVN_Northbound";
  target.control_command = {"sh", "-c", "sleep 600"};
  target.ovsdb_command = {"sh", "-c", "echo 'ssh: host b: Connection refused' >&2; exit 255"};
  Member member(runtime, std::move(target));
  const Opinion opinion = net::run_task(runtime, member.look(runtime.deadline_in(200ms)));
  EXPECT_EQ(opinion.status_source.reason.code, ReasonCode::kUnreachable);
  EXPECT_EQ(opinion.local_source.reason.code, ReasonCode::kRejected);
}

}  // namespace
}  // namespace wardmote::observe::ovn
