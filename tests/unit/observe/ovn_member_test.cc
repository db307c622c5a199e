#include "observe/ovn/member.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <chrono>

#include "support/ovn_captures.h"
#include "unit/observe/ovn_world.h"

namespace wardmote::observe::ovn {
namespace {

using judge::ReasonCode;
using judge::raft::Mode;
using judge::raft::Opinion;
using runtime::Task;
using testing::FakeManners;
using testing::FakeServer;
using testing::healthy_manners;
using testing::OvnWorld;
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

MemberTarget target_of(const OvnWorld& world) {
  MemberTarget target;
  target.name = "ctl-1";
  target.database = "OVN_Northbound";
  target.control = world.endpoint("nb.ctl");
  target.ovsdb = world.endpoint("nb.sock");
  return target;
}

/// A socket file that nobody listens on, as a killed server leaves it.
void leave_socket_file(const std::string& path) {
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{.sun_family = AF_UNIX};
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  EXPECT_EQ(::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  ::close(fd);
}

/// One look at the member of `world`.
Opinion look(OvnWorld& world, Duration timeout = 300ms) {
  Opinion opinion;
  Member member(world.runtime(), target_of(world));
  constexpr auto body = [](Member* asked, Opinion* into, runtime::Deadline deadline) -> Task<void> {
    *into = co_await asked->look(deadline);
  };
  world.run(body(&member, &opinion, world.runtime().deadline_in(timeout)));
  return opinion;
}

TEST(OvnMember, AHealthyLeaderSaysItAll) {
  OvnWorld world;
  world.serve("nb.ctl", healthy_manners(leader_status()));
  world.serve("nb.sock", healthy_manners(leader_status()));
  const Opinion opinion = look(world);
  EXPECT_EQ(opinion.member, "ctl-1");
  EXPECT_EQ(opinion.control_command,
            (std::vector<std::string>{"ovn-appctl", "-t", world.path("nb.ctl")}));
  EXPECT_EQ(opinion.mode, Mode::kClustered);
  EXPECT_TRUE(opinion.status_source.answered());
  EXPECT_TRUE(opinion.local_source.answered());
  EXPECT_LT(opinion.begun, opinion.ended);
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

TEST(OvnMember, OneWayHangingDoesNotHideTheOther) {
  for (const bool control_hangs : {true, false}) {
    OvnWorld world;
    world.serve("nb.ctl", control_hangs ? FakeManners{} : healthy_manners(leader_status()));
    world.serve("nb.sock", control_hangs ? healthy_manners(leader_status()) : FakeManners{});
    const Opinion opinion = look(world, 200ms);
    EXPECT_EQ(opinion.status.has_value(), !control_hangs);
    EXPECT_EQ(opinion.local.has_value(), control_hangs);
    EXPECT_EQ(opinion.status_source.reason.code,
              control_hangs ? ReasonCode::kHung : ReasonCode::kNone);
    EXPECT_EQ(opinion.local_source.reason.code,
              control_hangs ? ReasonCode::kNone : ReasonCode::kHung);
    EXPECT_EQ(opinion.mode, Mode::kClustered);
  }
}

TEST(OvnMember, AServerThatDoesNotEvenAcceptHangs) {
  OvnWorld world;
  world.serve("nb.ctl", {.accepts = false});
  world.serve("nb.sock", {.accepts = false});
  const Opinion opinion = look(world, 100ms);
  EXPECT_EQ(opinion.status_source.reason.code, ReasonCode::kHung);
  EXPECT_EQ(opinion.local_source.reason.code, ReasonCode::kHung);
  EXPECT_FALSE(opinion.speaks());
}

TEST(OvnMember, MissingAndRefusedDiffer) {
  OvnWorld world;
  leave_socket_file(world.path("nb.sock"));
  const Opinion opinion = look(world, 100ms);
  EXPECT_EQ(opinion.status_source.reason.code, ReasonCode::kMissing);
  EXPECT_EQ(opinion.local_source.reason.code, ReasonCode::kRefused);
}

TEST(OvnMember, TheWordsOfTheServerBecomeReasons) {
  const auto reason = [](FakeManners manners) {
    OvnWorld world;
    world.serve("nb.ctl", std::move(manners));
    world.serve("nb.sock", healthy_manners(leader_status()));
    const Opinion opinion = look(world, 200ms);
    EXPECT_TRUE(opinion.local_source.answered()) << "one way never hides the other";
    return opinion.status_source.reason.code;
  };
  EXPECT_EQ(reason(raw(kUnknownCluster)), ReasonCode::kUnknownCluster);
  EXPECT_EQ(reason(raw(kNoSuchCommand)), ReasonCode::kNotClustered);
  EXPECT_EQ(reason(raw(R"({"id":{ID},"error":"no thanks"})")), ReasonCode::kRejected);
}

TEST(OvnMember, HostilePeersEndWithAReason) {
  const auto reason = [](FakeManners manners) {
    OvnWorld world;
    world.serve("nb.ctl", std::move(manners));
    world.serve("nb.sock", healthy_manners(leader_status()));
    const Opinion opinion = look(world, 250ms);
    EXPECT_TRUE(opinion.local_source.answered()) << "one way never hides the other";
    EXPECT_FALSE(opinion.status.has_value());
    EXPECT_FALSE(opinion.status_source.reason.text.empty());
    return opinion.status_source.reason.code;
  };
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

  FakeManners drip = healthy_manners(leader_status());
  drip.step = 1;
  EXPECT_EQ(reason(std::move(drip)), ReasonCode::kHung) << "one byte a millisecond";

  FakeManners closing = raw(R"({"id":{ID},"resu)");
  closing.closes_after = 1;
  EXPECT_EQ(reason(std::move(closing)), ReasonCode::kClosed);
}

TEST(OvnMember, StandaloneRelayAndRemovedDatabases) {
  const auto opinion_of = [](std::string_view control, std::string_view rows) {
    OvnWorld world;
    world.serve("nb.ctl", raw(control));
    FakeManners ovsdb;
    ovsdb.results["transact"] = rows;
    world.serve("nb.sock", std::move(ovsdb));
    return look(world);
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

/// Looks again and again over one Member.
class OvnConnection : public ::testing::Test {
 protected:
  std::vector<Opinion> looks(int count) {
    std::vector<Opinion> opinions;
    constexpr auto body = [](OvnConnection* self, int times,
                             std::vector<Opinion>* into) -> Task<void> {
      for (int i = 0; i < times; ++i) {
        if (self->before_look) self->before_look(i);
        Opinion opinion = co_await self->member->look(self->world.runtime().deadline_in(300ms));
        into->push_back(std::move(opinion));
      }
    };
    world.run(body(this, count, &opinions));
    return opinions;
  }

  OvnWorld world;
  FakeServer& control = world.serve("nb.ctl", healthy_manners(leader_status()));
  FakeServer& ovsdb = world.serve("nb.sock", healthy_manners(leader_status()));
  std::unique_ptr<Member> member = std::make_unique<Member>(world.runtime(), target_of(world));
  std::function<void(int)> before_look;
};

TEST_F(OvnConnection, IsKeptAndMadeAnewEveryTenthLook) {
  for (const Opinion& opinion : looks(20)) EXPECT_TRUE(opinion.status && opinion.local);
  EXPECT_EQ(control.requests().size(), 20U);
  EXPECT_EQ(control.connections(), 3) << "the first look, the tenth and the twentieth";
  EXPECT_EQ(ovsdb.connections(), 3);
  EXPECT_TRUE(member->cost().fresh_connection);
}

TEST_F(OvnConnection, ClosedBetweenTwoLooksIsNoFailure) {
  before_look = [this](int look) {
    if (look == 1) control.hang_up();
  };
  for (const Opinion& opinion : looks(3))
    EXPECT_TRUE(opinion.status) << opinion.status_source.reason.text;
  EXPECT_EQ(control.connections(), 2);
}

TEST_F(OvnConnection, AServerThatIsGoneIsMissedAtOnce) {
  before_look = [this](int look) {
    if (look == 1) world.remove("nb.ctl", control);
  };
  const std::vector<Opinion> opinions = looks(2);
  EXPECT_TRUE(opinions[0].status);
  EXPECT_EQ(opinions[1].status_source.reason.code, ReasonCode::kMissing);
  EXPECT_TRUE(opinions[1].local);
}

TEST_F(OvnConnection, IsDroppedAfterSilenceAndComesBack) {
  before_look = [this](int look) {
    control.manners().results["cluster/status"] = codec::json_string(leader_status());
    control.manners().raw = look == 1 ? std::string(R"({"id":{ID},)") : std::string();
  };
  const std::vector<Opinion> opinions = looks(3);
  EXPECT_TRUE(opinions[0].status);
  EXPECT_EQ(opinions[1].status_source.reason.code, ReasonCode::kHung);
  EXPECT_TRUE(opinions[2].status);
  EXPECT_EQ(control.connections(), 2);
}

TEST_F(OvnConnection, AnswersTheEchoOfTheServer) {
  ovsdb.manners().greeting = R"({"id":"echo","method":"echo","params":[]})";
  const std::vector<Opinion> opinions = looks(2);
  EXPECT_TRUE(opinions[0].local);
  EXPECT_TRUE(opinions[1].local);
  EXPECT_EQ(ovsdb.connections(), 1);
}

}  // namespace
}  // namespace wardmote::observe::ovn
