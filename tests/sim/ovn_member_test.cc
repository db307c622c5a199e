#include "observe/ovn/member.h"

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sim/ovn_host.h"
#include "sim/seeds.h"
#include "support/ovn_captures.h"

namespace wardmote::sim {
namespace {

using judge::ReasonCode;
using judge::raft::Mode;
using judge::raft::Opinion;
using observe::ovn::Member;
using observe::ovn::MemberTarget;
using runtime::Task;
using testing::FakeManners;
using testing::healthy_manners;
using namespace std::chrono_literals;

constexpr std::string_view kUnknownCluster = R"({"id":{ID},"error":"unknown cluster\n"})";
constexpr std::string_view kNoSuchCommand =
    R"({"id":{ID},"error":"\"cluster/status\" is not a valid command (use \"list-commands\" to see a list of valid commands)\n"})";

std::string leader_status() {
  return testing::statuses_of("01-healthy.txt").at(0);
}

FakeManners raw(std::string_view reply) {
  FakeManners manners;
  manners.raw = reply;
  return manners;
}

MemberTarget target() {
  MemberTarget target;
  target.name = "ctl-1";
  target.database = "OVN_Northbound";
  target.control = OvnHost::kControl;
  target.ovsdb = OvnHost::kOvsdb;
  return target;
}

Opinion look_with(OvnHost& ovn, Member& member) {
  return run_task(ovn.sim, ovn.host, member.look(ovn.host.deadline_in(900ms)));
}

Opinion look(OvnHost& ovn) {
  Member member(ovn.host, target());
  return look_with(ovn, member);
}

SIM_TEST_SEEDS(OvnMember, AHealthyLeaderSaysItAll, 3) {
  OvnHost ovn(sim, healthy_manners(leader_status()), healthy_manners(leader_status()));
  const Opinion opinion = look(ovn);
  EXPECT_EQ(opinion.member, "ctl-1");
  EXPECT_EQ(opinion.control_command,
            (std::vector<std::string>{"ovn-appctl", "-t", "/run/ovn/ovnnb_db.ctl"}));
  EXPECT_EQ(opinion.mode, Mode::kClustered);
  EXPECT_TRUE(opinion.status_source.answered());
  EXPECT_TRUE(opinion.local_source.answered());
  EXPECT_LE(opinion.begun, opinion.ended);
  ASSERT_TRUE(opinion.status.has_value());
  EXPECT_EQ(to_string(opinion.status->server_id), "dea645fa-f66d-419f-89d2-9ef5ed65767e");
  EXPECT_EQ(opinion.status->role, judge::raft::Role::kLeader);
  EXPECT_EQ(opinion.status->standing, judge::raft::Standing::kMember);
  EXPECT_EQ(opinion.status->leader.kind, judge::raft::PeerName::Kind::kSelf);
  EXPECT_EQ(opinion.status->committed_index(), 4U);
  EXPECT_EQ(opinion.status->servers.size(), 3U);
  EXPECT_EQ(opinion.status->servers[0].last_message, judge::raft::Milliseconds(336));
  ASSERT_TRUE(opinion.local.has_value());
  EXPECT_TRUE(opinion.local->leader);
  EXPECT_EQ(opinion.local->index, 4U);
}

SIM_TEST_SEEDS(OvnMember, OneWayHangingDoesNotHideTheOther, 3) {
  for (const bool control_hangs : {true, false}) {
    OvnHost ovn(sim, control_hangs ? FakeManners{} : healthy_manners(leader_status()),
                control_hangs ? healthy_manners(leader_status()) : FakeManners{});
    const Opinion opinion = look(ovn);
    EXPECT_EQ(opinion.status.has_value(), !control_hangs);
    EXPECT_EQ(opinion.local.has_value(), control_hangs);
    EXPECT_EQ(opinion.status_source.reason.code,
              control_hangs ? ReasonCode::kHung : ReasonCode::kNone);
    EXPECT_EQ(opinion.local_source.reason.code,
              control_hangs ? ReasonCode::kNone : ReasonCode::kHung);
    EXPECT_EQ(opinion.mode, Mode::kClustered);
    EXPECT_LE(opinion.ended - opinion.begun, 900ms);
  }
}

SIM_TEST_SEEDS(OvnMember, AnOvsdbPortOutOfReachDoesNotHideTheStatus, 3) {
  OvnHost ovn(sim);
  ovn.serve_control(healthy_manners(leader_status()));
  sim.host("elsewhere");
  sim.network().isolate("elsewhere");
  MemberTarget far = target();
  far.ovsdb = runtime::Endpoint::tcp("elsewhere", 6641);
  Member member(ovn.host, far);
  const Opinion opinion = look_with(ovn, member);
  EXPECT_TRUE(opinion.status.has_value()) << opinion.status_source.reason.text;
  EXPECT_EQ(opinion.local_source.reason.code, ReasonCode::kUnreachable);
  EXPECT_LE(opinion.ended - opinion.begun, 900ms);
}

SIM_TEST_SEEDS(OvnMember, AServerThatDoesNotEvenAcceptHangs, 3) {
  OvnHost ovn(sim, {.accepts = false}, {.accepts = false});
  const Opinion opinion = look(ovn);
  EXPECT_EQ(opinion.status_source.reason.code, ReasonCode::kHung);
  EXPECT_EQ(opinion.local_source.reason.code, ReasonCode::kHung);
  EXPECT_FALSE(opinion.speaks());
}

SIM_TEST_SEEDS(OvnMember, MissingAndRefusedDiffer, 3) {
  OvnHost ovn(sim);
  ovn.serve_ovsdb({});
  ovn.host.crash();  // leaves its socket file, as kill -9 does
  const Opinion opinion = look(ovn);
  EXPECT_EQ(opinion.status_source.reason.code, ReasonCode::kMissing);
  EXPECT_EQ(opinion.local_source.reason.code, ReasonCode::kRefused);
}

/// Why `cluster/status` gave nothing when the control socket has these manners.
ReasonCode reason_of(World& sim, FakeManners manners) {
  OvnHost ovn(sim, std::move(manners), healthy_manners(leader_status()));
  const Opinion opinion = look(ovn);
  EXPECT_TRUE(opinion.local_source.answered()) << "one way never hides the other";
  EXPECT_FALSE(opinion.status.has_value());
  EXPECT_FALSE(opinion.status_source.reason.text.empty());
  EXPECT_LE(opinion.ended - opinion.begun, 900ms);
  return opinion.status_source.reason.code;
}

SIM_TEST_SEEDS(OvnMember, TheWordsOfTheServerBecomeReasons, 3) {
  const auto reason = [&](std::string_view reply) { return reason_of(sim, raw(reply)); };
  EXPECT_EQ(reason(kUnknownCluster), ReasonCode::kUnknownCluster);
  EXPECT_EQ(reason(kNoSuchCommand), ReasonCode::kNotClustered);
  EXPECT_EQ(reason(R"({"id":{ID},"error":"no thanks"})"), ReasonCode::kRejected);
}

SIM_TEST_SEEDS(OvnMember, HostilePeersEndWithAReason, 3) {
  const auto reason = [&](FakeManners manners) { return reason_of(sim, std::move(manners)); };
  EXPECT_EQ(reason(raw("HTTP/1.1 400 Bad Request\r\n\r\n")), ReasonCode::kProtocol) << "garbage";
  EXPECT_EQ(reason(raw(R"({"id":{ID},"resu)")), ReasonCode::kHung) << "half JSON";
  EXPECT_EQ(reason(raw(R"({"id":{ID},"result" 7})")), ReasonCode::kProtocol) << "broken JSON";
  EXPECT_EQ(reason(raw(R"({"id":424242,"result":"x","error":null})")), ReasonCode::kProtocol)
      << "wrong id";
  EXPECT_EQ(reason(raw(R"({"id":{ID},"result":7,"error":null})")), ReasonCode::kProtocol)
      << "no text";
  EXPECT_EQ(reason(raw(R"({"id":{ID},"result":"dea6\nRole: leader\nTerm: 1\n","error":null})")),
            ReasonCode::kProtocol)
      << "cut short";
  EXPECT_EQ(reason(raw(R"({"id":{ID},"result":)" + std::string(100'000, '['))),
            ReasonCode::kOverLimit)
      << "deep";
  EXPECT_EQ(reason({.greeting = R"({"id":9,"result":"never asked","error":null})"}),
            ReasonCode::kProtocol)
      << "reply to nothing";

  FakeManners endless_string = raw(std::string(64 << 10, 'x'));
  endless_string.greeting = R"({"id":1,"result":")";
  endless_string.endless = true;
  EXPECT_EQ(reason(std::move(endless_string)), ReasonCode::kOverLimit);

  FakeManners chatter = raw(R"({"id":null,"method":"update3","params":[]})");
  chatter.endless = true;
  EXPECT_EQ(reason(std::move(chatter)), ReasonCode::kOverLimit) << "endless small messages";

  FakeManners drip = raw(R"({"id":{ID},"result":")" + std::string(2000, 'x') + "\"}");
  drip.step = 1;
  EXPECT_EQ(reason(std::move(drip)), ReasonCode::kHung) << "one byte a millisecond";

  FakeManners closing = raw(R"({"id":{ID},"resu)");
  closing.closes_after = 1;
  EXPECT_EQ(reason(std::move(closing)), ReasonCode::kClosed);
}

SIM_TEST_SEEDS(OvnMember, StandaloneRelayAndRemovedDatabases, 3) {
  const auto opinion_of = [&](std::string_view control, std::string_view rows) {
    FakeManners ovsdb;
    ovsdb.results["transact"] = rows;
    OvnHost ovn(sim, raw(control), std::move(ovsdb));
    return look(ovn);
  };
  const Opinion standalone = opinion_of(
      kNoSuchCommand,
      R"([{"rows":[{"cid":["set",[]],"connected":true,"index":["set",[]],"leader":true,"model":"standalone","sid":["set",[]]}]}])");
  EXPECT_EQ(standalone.mode, Mode::kStandalone);
  EXPECT_TRUE(standalone.local_source.answered());
  EXPECT_FALSE(standalone.local->cluster_id.known());

  const Opinion relay = opinion_of(
      kNoSuchCommand,
      R"([{"rows":[{"cid":["set",[]],"connected":true,"index":["set",[]],"leader":false,"model":"relay","sid":["set",[]]}]}])");
  EXPECT_EQ(relay.mode, Mode::kRelay);

  const Opinion removed = opinion_of(kUnknownCluster, R"([{"rows":[]}])");
  EXPECT_EQ(removed.mode, Mode::kAbsent);
  EXPECT_EQ(removed.local_source.reason.code, ReasonCode::kUnknownCluster);
  EXPECT_FALSE(removed.speaks());
}

// A wrong name in the configuration: the server says what it does serve.
SIM_TEST_SEEDS(OvnMember, AServerWithoutTheDatabaseSaysWhatItServes, 3) {
  FakeManners ovsdb;
  ovsdb.in_turn = {
      R"({"id":{ID},"result":[{"rows":[]}],"error":null})",
      R"({"id":{ID},"result":[{"rows":[{"name":"_Server"},{"name":"OVN_Northbound"}]}],"error":null})"};
  OvnHost by_ovsdb(sim, raw(kUnknownCluster), ovsdb);
  EXPECT_EQ(look(by_ovsdb).serves, (std::vector<std::string>{"OVN_Northbound"}));
}

SIM_TEST_SEEDS(OvnMember, ByItsControlSocketAloneItSaysSoToo, 3) {
  FakeManners control;
  control.in_turn = {std::string(kUnknownCluster),
                     R"({"id":{ID},"result":"OVN_Northbound\n_Server\n","error":null})"};
  OvnHost ovn(sim);
  ovn.serve_control(control);
  MemberTarget only_control = target();
  only_control.ovsdb.reset();
  Member member(ovn.host, only_control);
  const Opinion opinion = look_with(ovn, member);
  EXPECT_EQ(opinion.serves, (std::vector<std::string>{"OVN_Northbound"}));
  EXPECT_EQ(opinion.mode, Mode::kAbsent);
}

/// A healthy member that is looked at again and again over the same connections.
struct Looked {
  explicit Looked(World& world)
      : ovn(world, healthy_manners(leader_status()), healthy_manners(leader_status())) {}
  Opinion look() { return look_with(ovn, member); }

  OvnHost ovn;
  Member member{ovn.host, target()};
};

SIM_TEST_SEEDS(OvnConnection, IsKeptAndMadeAnewEveryTenthLook, 3) {
  Looked looked(sim);
  for (int i = 0; i < 20; ++i) {
    const Opinion opinion = looked.look();
    EXPECT_TRUE(opinion.status && opinion.local);
  }
  EXPECT_EQ(looked.ovn.control->requests().size(), 21U) << "and once: what else it has";
  EXPECT_EQ(looked.ovn.control->connections(), 3) << "the first look, the tenth and the twentieth";
  EXPECT_EQ(looked.ovn.ovsdb->connections(), 3);
  EXPECT_TRUE(looked.member.cost().fresh_connection);
  EXPECT_EQ(looked.member.lines_not_understood(), 0U);
}

SIM_TEST_SEEDS(OvnMember, IsAskedNowAndThenWhatElseItsProcessHas, 3) {
  FakeManners both = healthy_manners(leader_status());
  both.results["ovsdb-server/list-dbs"] = R"("OVN_Northbound\nOVN_Southbound\n_Server\n")";
  OvnHost ovn(sim, both, healthy_manners(leader_status()));
  Member member(ovn.host, target());
  const Opinion first = look_with(ovn, member);
  ASSERT_TRUE(first.neighbours);
  ASSERT_EQ(first.neighbours->size(), 1U);
  EXPECT_EQ(first.neighbours->front().database, "OVN_Southbound");
  EXPECT_EQ(first.neighbours->front().server_id, first.status->server_id) << "as the fake says";
  EXPECT_FALSE(first.roams);
  const std::size_t asked = ovn.control->requests().size();
  EXPECT_EQ(asked, 3U);
  EXPECT_EQ(look_with(ovn, member).neighbours, first.neighbours);
  EXPECT_EQ(ovn.control->requests().size(), asked + 1) << "not at each look";
  sim.run_for(10s);
  EXPECT_EQ(look_with(ovn, member).neighbours, first.neighbours);
  EXPECT_EQ(ovn.control->requests().size(), asked + 4);
  ovn.control->manners().results.erase("ovsdb-server/list-dbs");
  sim.run_for(10s);
  EXPECT_FALSE(look_with(ovn, member).neighbours) << "it does not say";
}

SIM_TEST_SEEDS(OvnConnection, ClosedBetweenTwoLooksIsNoFailure, 3) {
  Looked looked(sim);
  EXPECT_TRUE(looked.look().status);
  looked.ovn.control->hang_up();
  const Opinion opinion = looked.look();
  EXPECT_TRUE(opinion.status) << opinion.status_source.reason.text;
  EXPECT_EQ(looked.ovn.control->connections(), 2);
}

SIM_TEST_SEEDS(OvnConnection, AServerThatIsGoneIsMissedAtOnce, 3) {
  Looked looked(sim);
  EXPECT_TRUE(looked.look().status);
  looked.ovn.host.crash();
  EXPECT_EQ(looked.look().status_source.reason.code, ReasonCode::kRefused);
}

SIM_TEST_SEEDS(OvnConnection, IsDroppedAfterSilenceAndComesBack, 3) {
  Looked looked(sim);
  EXPECT_TRUE(looked.look().status);
  looked.ovn.control->manners().raw = R"({"id":{ID},)";
  EXPECT_EQ(looked.look().status_source.reason.code, ReasonCode::kHung);
  looked.ovn.control->manners().raw.clear();
  EXPECT_TRUE(looked.look().status);
  EXPECT_EQ(looked.ovn.control->connections(), 2);
}

SIM_TEST_SEEDS(OvnConnection, AnswersTheEchoOfTheServer, 3) {
  FakeManners echoing = healthy_manners(leader_status());
  echoing.greeting = R"({"id":"echo","method":"echo","params":[]})";
  OvnHost ovn(sim, healthy_manners(leader_status()), std::move(echoing));
  Member member(ovn.host, target());
  EXPECT_TRUE(look_with(ovn, member).local);
  EXPECT_TRUE(look_with(ovn, member).local);
  EXPECT_EQ(ovn.ovsdb->connections(), 1);
}

}  // namespace
}  // namespace wardmote::sim
