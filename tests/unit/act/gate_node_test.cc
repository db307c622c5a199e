#include "act/gate/gate_node.h"

#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <iterator>
#include <string>

#include "act/gate/records.h"
#include "codec/metropolis.h"
#include "codec/protobuf.h"
#include "judge/version_gate/admission.h"
#include "judge/version_gate/entry.h"
#include "judge/version_gate/report.h"
#include "judge/version_gate/status.h"
#include "store/store.h"
#include "support/logged.h"
#include "support/test_data.h"
#include "unit/act/gate_fixture.h"

namespace wardmote::act::gate {
namespace {

using Verdict = judge::version_gate::Admission::Verdict;
using namespace std::chrono_literals;

std::string status_of(std::int64_t version, std::int64_t minimum) {
  return write_status({.version = {.major = version}, .minimum = {.major = minimum}}, "");
}

class GateNodeTest : public GateTest {};

TEST(GateRecords, WhatAPreReleaseHasWrittenIsNotYetOfTheFinalOne) {
  codec::metropolis::ReconcilerStatus status{.state = codec::metropolis::kStateDone};
  status.version.emplace().release.emplace() = {.major = 1, .minor = 4};
  status.minimum_compatible_release.emplace() = {.major = 1, .minor = 3};
  const auto version = [&] {
    return read_status(store::KeyValue{.key = "k", .value = codec::metropolis::encode(status)})
        .status.version;
  };
  const Release final{.major = 1, .minor = 4};
  EXPECT_EQ(version(), final);
  codec::ProtoWriter words;
  words.bytes(4, "rc.1");
  status.version->release->other = words.take();
  EXPECT_LT(version(), final);
  EXPECT_GT(version(), (Release{.major = 1, .minor = 3, .patch = 99}));
}

// version/spec/spec.proto: `repeated string prerelease = 4` of Version.Release.
TEST(GateRecords, ANodeOfAPreReleaseIsOfNoReleaseThatANumberNames) {
  codec::metropolis::Node node;
  node.roles.emplace().kubernetes_controller.emplace();
  auto& version = node.status.emplace().version.emplace();
  version.release.emplace().major = 1;
  EXPECT_EQ(read_member("a", codec::metropolis::encode(node))->release, (Release{.major = 1}));
  codec::ProtoWriter words;
  words.bytes(4, "rc.1");
  version.release->other = words.take();
  const std::string record = codec::metropolis::encode(node);
  const auto member = read_member("a", record);
  ASSERT_TRUE(member);
  EXPECT_FALSE(member->release);
  EXPECT_TRUE(member->why.contains("pre-release")) << member->why;
  const Identity self{.node = "a", .boot = "boot"};
  EXPECT_EQ(read_member("a", write_node(self, {.major = 1}, record))->release,
            (Release{.major = 1}))
      << "our own registration has none";
}

// What Metropolis itself may leave behind; each was a nil pointer in the original.
TEST(GateRecords, ANodeOfWhichAPartIsMissingBlocksOrTakesNoPart) {
  const auto of = [](const std::string& name) {
    std::ifstream file(WARDMOTE_TEST_DATA "/metropolis/node-" + name + ".bin", std::ios::binary);
    EXPECT_TRUE(file.good()) << name;
    return read_member("n", std::string(std::istreambuf_iterator<char>(file), {}));
  };
  EXPECT_TRUE(of("controller")->release);
  EXPECT_FALSE(of("worker"));
  EXPECT_FALSE(of("without-roles"));
  const auto unread = of("without-status");
  ASSERT_TRUE(unread);
  EXPECT_FALSE(unread->release);
  EXPECT_EQ(unread->why, "its record has no version");
  EXPECT_EQ(of("without-release")->release, Release());
  EXPECT_FALSE(read_member("n", "")) << "it is gone";
}

TEST_F(GateNodeTest, TheLogTellsOnceOfARegistrationThatCannotBeRead) {
  const testing::Logged logged;
  const auto a = make("a", product(1), false);
  const auto told = [&] { return logged.count("gate_registration_not_understood gate=g node=x"); };
  write(store::Put{"gate/nodes/x", "\xff"});
  ASSERT_TRUE(until([&] { return told() == 1; }));
  write(store::Put{"gate/nodes/b", write_node({.node = "b", .boot = "b"}, {.major = 1}, "")});
  world.run_for(10s);
  EXPECT_EQ(told(), 1);
  write(store::Put{"gate/nodes/x", "\xfe"});
  EXPECT_TRUE(until([&] { return told() == 2; })) << "another record";
}

TEST_F(GateNodeTest, RegistersAndWaitsForAStatusThatFits) {
  const auto a = make("a", product(1), false);
  ASSERT_TRUE(until([&] { return a->node.admission().verdict == Verdict::kNoStatus; })) << a->why();
  EXPECT_EQ(read_member("a", read("gate/nodes/a")->value)->release, (Release{.major = 1}));
  write(store::Put{kLayout.status(), status_of(2, 2)});
  ASSERT_TRUE(until([&] { return a->node.admission().verdict == Verdict::kNodeTooOld; }));
  write(store::Put{kLayout.status(), status_of(2, 1)});
  ASSERT_TRUE(until([&] { return a->ready(); }, 1s));
  write(store::Put{kLayout.status(), status_of(2, 2)});
  EXPECT_TRUE(until([&] { return !a->ready(); }, 1s)) << "it is told when it no longer fits";
}

TEST_F(GateNodeTest, AStateThatNobodyKnowsIsNeverReady) {
  const auto a = make("a", product(1), false);
  write(store::Put{kLayout.status(), status_of(1, 1)});
  ASSERT_TRUE(until([&] { return a->ready(); }));
  std::string record = status_of(1, 1);
  record[1] = 7;  // field 1, the state
  write(store::Put{kLayout.status(), record});
  ASSERT_TRUE(until([&] { return !a->ready(); }, 1s));
  EXPECT_EQ(a->node.admission().verdict, Verdict::kUnreadable);
  EXPECT_NE(a->why().find("state 7 is not known"), std::string::npos) << a->why();
  for (const std::string bytes : {"\xff", "", "\x08\x01"}) {
    write(store::Put{kLayout.status(), bytes});
    world.run_for(200ms);
    EXPECT_EQ(a->node.admission().verdict, Verdict::kUnreadable);
  }
}

TEST_F(GateNodeTest, WhileTheStoreHangsItIsNotReadyAndSaysWhy) {
  write(store::Put{kLayout.status(), status_of(1, 1)});
  auto a = make("a", product(1), false);
  a->store.hangs = true;
  world.run_for(30s);
  EXPECT_FALSE(a->ready());
  ASSERT_TRUE(a->node.complaint());
  a->store.hangs = false;
  EXPECT_TRUE(until([&] { return a->ready(); }, 20s)) << a->why();
  EXPECT_FALSE(a->node.complaint());
}

TEST_F(GateNodeTest, ARegistrationWhoseOutcomeIsNotKnownIsReadAndCompared) {
  write(store::Put{kLayout.status(), status_of(1, 1)});
  auto a = make("a", product(1), false);
  a->store.lost_answers = 1;
  ASSERT_TRUE(until([&] { return a->ready(); }));
  EXPECT_EQ(read("gate/nodes/a")->version, 1) << "it was made, and not made again";
}

TEST_F(GateNodeTest, AStoreThatIsEmptiedIsRegisteredInAnew) {
  write(store::Put{kLayout.status(), status_of(1, 1)});
  const auto a = make("a", product(1), false);
  ASSERT_TRUE(until([&] { return a->ready(); }));
  int not_ready = 0;
  a->node.listen([&] { not_ready += a->ready() ? 0 : 1; });
  write(store::Erase{store::KeyRange::prefix("gate/")});
  ASSERT_TRUE(until([&] { return not_ready > 0; }, 1s));
  ASSERT_TRUE(until([&] { return read("gate/nodes/a").has_value(); }, 5s));
  EXPECT_FALSE(a->ready()) << "nothing is reconciled there";
  write(store::Put{kLayout.status(), status_of(1, 1)});
  EXPECT_TRUE(until([&] { return a->ready(); }, 5s)) << a->why();
}

/// It says that it may not serve before it registers again: in between nobody waits for it.
TEST_F(GateNodeTest, OneThatIsForgottenIsNotReadyUntilItIsRegisteredAgain) {
  write(store::Put{kLayout.status(), status_of(1, 1)});
  const auto a = make("a", product(1), false);
  ASSERT_TRUE(until([&] { return a->ready(); }));
  std::string seen;
  a->node.listen([&] { seen += a->ready() ? '+' : '-'; });
  write(store::Erase{store::KeyRange::one("gate/nodes/a")});
  write(store::Put{kLayout.status(), status_of(2, 2)});
  world.run_for(10s);
  EXPECT_TRUE(seen.starts_with('-')) << seen;
  EXPECT_EQ(a->node.admission().verdict, Verdict::kNodeTooOld) << a->why();
}

TEST_F(GateNodeTest, OfTwoOfOneNameTheEarlierIsNotReadyAndDoesNotFight) {
  write(store::Put{kLayout.status(), status_of(2, 1)});
  const auto first = make("a", product(1), false, "first");
  ASSERT_TRUE(until([&] { return first->ready(); }));
  const auto second = make("a", product(2), false, "second");
  ASSERT_TRUE(until([&] { return second->ready(); }));
  world.run_for(1min);
  EXPECT_FALSE(first->ready());
  EXPECT_NE(first->why().find("two processes have this name"), std::string::npos) << first->why();
  EXPECT_TRUE(second->ready());
  EXPECT_EQ(read("gate/nodes/a")->version, 2) << "each wrote once";
  const auto third = make("a", product(1), true, "third");
  world.run_for(10s);
  EXPECT_FALSE(first->ready());
  EXPECT_FALSE(second->ready()) << "now the third has the name";
  EXPECT_EQ(read("gate/nodes/a")->version, 3);
}

/// Its watch of the registrations lags: a list from before its own may lack others, too.
TEST_F(GateNodeTest, NobodyIsSaidToBeOutOfTheWayBeforeTheRegistrationsAreInView) {
  const auto newer = make("b", product(2), false);
  ASSERT_TRUE(until([&] { return newer->node.registered().has_value(); }));
  auto a = make("a", product(1), false);
  a->store.deaf = kLayout.nodes;
  ASSERT_TRUE(until([&] { return a->node.admission().verdict == Verdict::kNoStatus; })) << a->why();
  using Clear = judge::version_gate::Clearance::Verdict;
  EXPECT_EQ(a->node.clearance().verdict, Clear::kUnread);
  a->store.deaf.clear();
  ASSERT_TRUE(until([&] { return a->node.sees_itself(); }));
  EXPECT_EQ(a->node.clearance().verdict, Clear::kNewer);
}

TEST_F(GateNodeTest, WhatAnotherProgramKeepsInTheRecordStays) {
  codec::metropolis::Node curator;
  curator.id = "a";
  curator.other = std::string("\x0a\x03key", 5);  // field 1, the public key
  write(store::Put{"gate/nodes/a", codec::metropolis::encode(curator)});
  const auto a = make("a", product(3), false);
  ASSERT_TRUE(until([&] { return a->node.registered().has_value(); }));
  const auto now = codec::metropolis::decode_node(read("gate/nodes/a")->value);
  ASSERT_TRUE(now);
  EXPECT_EQ(now->other, curator.other);
  EXPECT_EQ(now->status->version->release->major, 3);
}

TEST_F(GateNodeTest, WhatIsForgottenOfTheHistoryIsReadAnew) {
  const auto a = make("a", product(1), false);
  ASSERT_TRUE(until([&] { return a->node.registered().has_value(); }));
  a->us.pause();
  for (int i = 0; i < 80; ++i) write(store::Put{"gate/nodes/x" + std::to_string(i), "x"});
  write(store::Erase{store::KeyRange::prefix("gate/nodes/x")});
  write(store::Put{kLayout.status(), status_of(1, 1)});
  for (int i = 0; i < 80; ++i) write(store::Put{"other", std::to_string(i)});
  a->us.resume();
  ASSERT_TRUE(until([&] { return a->ready(); }, 10s)) << a->why();
  EXPECT_EQ(a->node.report().nodes.size(), 1U) << "what is gone disappears";
}

/// The status in view is that of before, and has a revision that the new history is far from.
TEST_F(GateNodeTest, AfterTheHistoryBeganAnewAnOldStatusLetsNobodyIn) {
  for (int i = 0; i < 20; ++i) write(store::Put{"other", std::to_string(i)});
  write(store::Put{kLayout.status(), status_of(1, 1)});
  const auto a = make("a", product(1), false);
  ASSERT_TRUE(until([&] { return a->ready(); }));
  sim::SimDisk restored_disk;
  sim::SimDatabase database(a->us, restored_disk);
  store::EmbeddedStore restored(a->us, database, "boot");
  ASSERT_TRUE(a->run(restored.open()));
  store::Transaction one;
  one.changes.emplace_back(store::Put{kLayout.status(), status_of(2, 2)});
  ASSERT_TRUE(a->run(restored.put_if(one, a->us.deadline_in(1min))));
  a->store.deaf = kLayout.state;
  a->store.become(restored);
  ASSERT_TRUE(until([&] { return !a->ready(); }));
  bool let_in = false;
  a->node.listen([&] { let_in = let_in || a->ready(); });
  world.run_for(1min);
  EXPECT_TRUE(a->node.registered()) << "in the new history";
  EXPECT_FALSE(let_in) << "by a status that is no more";
  a->store.deaf.clear();
  EXPECT_TRUE(until([&] { return a->node.admission().verdict == Verdict::kNodeTooOld; }))
      << a->why();
  a->stop();
}

/// A store that is set back: its history as far as the copy goes.
struct Copy {
  Copy(TestNode& node, const store::StoreChange& first) : of(node) {
    EXPECT_TRUE(of.run(store.open()));
    write(first);
    of.store.become(store);
  }
  void write(const store::StoreChange& change) {
    store::Transaction one;
    one.changes.push_back(change);
    EXPECT_TRUE(of.run(store.put_if(one, of.us.deadline_in(1min))));
  }
  TestNode& of;
  sim::SimDisk disk;
  sim::SimDatabase database{of.us, disk};
  store::EmbeddedStore store{of.us, database, "boot"};
};

/// So much was written into the copy that no revision shows it.
TEST_F(GateNodeTest, AStoreThatIsThereAgainIsReadAnew) {
  const store::Put old_status{kLayout.status(), status_of(1, 1)};
  write(old_status);
  const auto a = make("a", product(1), false);
  ASSERT_TRUE(until([&] { return a->ready(); }));
  bool kept_out = false;
  a->node.listen([&] { kept_out = kept_out || !a->ready(); });
  a->store.resume();
  world.run_for(1min);
  EXPECT_FALSE(kept_out) << "it is the same one";
  write(store::Put{kLayout.status(), status_of(2, 2)});
  ASSERT_TRUE(until([&] { return !a->ready(); }));
  a->store.resume();
  Copy at_a(*a, old_status);
  for (int i = 0; i < 40; ++i) at_a.write(store::Put{"other", std::to_string(i)});
  world.run_for(1min);
  EXPECT_FALSE(a->ready());
  EXPECT_TRUE(a->why().contains("before the store was set back")) << a->why();
  a->stop();
}

/// The objects are as release 2 wrote them, and the status of the copy is of release 1.
TEST_F(GateNodeTest, AfterTheStoreIsSetBackItsOlderStatusLetsNobodyIn) {
  const store::Put old_status{kLayout.status(), status_of(1, 1)};
  write(old_status);
  for (int i = 0; i < 20; ++i) write(store::Put{"other", std::to_string(i)});
  const auto a = make("a", product(1), false);
  const auto z = make("z", product(2, 0, 2), false);
  ASSERT_TRUE(until([&] { return a->ready() && z->node.registered(); }));
  write(store::Put{kLayout.status(), status_of(2, 2)});
  ASSERT_TRUE(until([&] { return !a->ready() && z->ready(); }));
  bool let_in = false;
  a->node.listen([&] { let_in = let_in || a->ready(); });
  Copy at_a(*a, old_status);
  world.run_for(1min);
  EXPECT_TRUE(a->node.registered()) << a->why();
  EXPECT_FALSE(let_in);
  EXPECT_TRUE(a->why().contains("before the store was set back")) << a->why();
  const std::string how = what_unblocks(a->node.report());
  EXPECT_TRUE(how.contains("upgraded to 2.0.0 or newer, or a whole pass is recorded")) << how;
  Status working{.state = Status::State::kWorking, .version = {1}, .minimum = {1}};
  at_a.write(store::Put{kLayout.status(), write_status(working, "")});
  world.run_for(10s);
  EXPECT_FALSE(let_in) << "the pass is not whole";
  at_a.write(old_status);
  EXPECT_TRUE(until([&] { return a->ready(); })) << a->why();

  // Who fits the objects serves on, until somebody claims whose status does not fit.
  Copy at_z(*z, old_status);
  ASSERT_TRUE(until([&] { return !z->ready(); }, 10s)) << "it is not registered there";
  ASSERT_TRUE(until([&] { return z->ready(); }, 10s)) << z->why();
  world.run_for(1min);
  EXPECT_TRUE(z->ready());
  at_z.write(store::Put{kLayout.claim(), "n 7"});
  ASSERT_TRUE(until([&] { return !z->ready(); }, 1s));
  EXPECT_EQ(z->node.admission().verdict, Verdict::kStatusTooOld) << z->why();
  at_z.write(store::Put{kLayout.status(), status_of(2, 2)});
  EXPECT_TRUE(until([&] { return z->ready(); })) << z->why();
  a->stop();
  z->stop();
}

/// The answer of a list is on its way while the watch goes on.
TEST_F(GateNodeTest, AnAnswerThatIsOlderThanWhatIsInViewChangesNothing) {
  write(store::Put{kLayout.status(), status_of(1, 1)});
  const auto a = make("a", product(1), false);
  ASSERT_TRUE(until([&] { return a->ready(); }));
  a->store.list_takes = 2s;
  const TimePoint begun = a->us.now();
  Result<void> read;
  bool ended = false;
  a->us.spawn("read again", [](TestNode& node, Result<void>& result, bool& done) -> Task<void> {
    result = co_await node.node.read_again(node.us.deadline_in(1min));
    done = true;
  }(*a, read, ended));
  ASSERT_TRUE(until([&] { return a->us.now() - begun > 3s; }));
  write(store::Put{kLayout.status(), status_of(2, 2)});
  ASSERT_TRUE(until([&] { return !a->ready(); }, 500ms));
  EXPECT_FALSE(ended) << "it has read the status of before, and we have not heard";
  bool let_in = false;
  a->node.listen([&] { let_in = let_in || a->ready(); });
  ASSERT_TRUE(until([&] { return ended; }));
  world.run_for(10s);
  EXPECT_FALSE(read);
  EXPECT_FALSE(let_in);
}

/// Seen at an etcd that was full for a while: it was ready, and complained for ever.
TEST_F(GateNodeTest, AReadAfterTheRegistrationThatCameTooLateIsForgottenWhenTheNextIsGood) {
  write(store::Put{kLayout.status(), status_of(1, 1)});
  const auto a = make("a", product(1), false);
  a->store.list_takes = 2s;
  ASSERT_TRUE(until([&] { return a->node.registered().has_value(); }));
  world.run_for(1s);
  write(store::Put{kLayout.progress(), "x"});
  ASSERT_TRUE(until([&] { return a->node.complaint().has_value(); }, 5s));
  EXPECT_TRUE(a->node.complaint()->contains("known is")) << *a->node.complaint();
  a->store.list_takes = {};
  ASSERT_TRUE(until([&] { return a->ready(); }, 5s)) << a->why();
  EXPECT_FALSE(a->node.complaint()) << *a->node.complaint();
}

TEST_F(GateNodeTest, WhoFindsAnotherWhereItsRegistrationWasDoesNotTakeTheNameBack) {
  const auto a = make("a", product(1), false);
  ASSERT_TRUE(until([&] { return a->node.registered().has_value(); }));
  const Identity twin{.node = "a", .boot = "twin"};
  a->store.before_get = store::Put{"gate/nodes/a", write_node(twin, {.major = 1}, "")};
  write(store::Erase{store::KeyRange::one("gate/nodes/a")});
  world.run_for(10s);
  EXPECT_EQ(read("gate/nodes/a")->version, 1) << "only the twin has written";
  EXPECT_FALSE(a->node.registered());
  EXPECT_NE(a->why().find("two processes have this name"), std::string::npos) << a->why();
}

/// In between a leader may have closed the gate for who is not registered.
TEST_F(GateNodeTest, ARegistrationThatWasGoneForAMomentCountsFromItsReturn) {
  const auto a = make("a", product(1), false);
  ASSERT_TRUE(until([&] { return a->node.registered().has_value(); }));
  const store::Put ours{"gate/nodes/a", read("gate/nodes/a")->value};
  const auto returned = [&](const store::StoreChange& first) {
    a->us.pause();
    write(first);
    write(ours);
    a->us.resume();
    const store::Revision now = read("gate/nodes/a")->mod_revision;
    world.run_for(10s);
    return a->node.registered() == now;
  };
  EXPECT_TRUE(returned(store::Erase{store::KeyRange::one("gate/nodes/a")}));
  const Identity twin{.node = "a", .boot = "twin"};
  EXPECT_TRUE(returned(store::Put{"gate/nodes/a", write_node(twin, {.major = 2}, "")}));
  write(ours);
  const store::Revision now = read("gate/nodes/a")->mod_revision;
  world.run_for(10s);
  EXPECT_LT(*a->node.registered(), now) << "the same record again is no return";
}

}  // namespace
}  // namespace wardmote::act::gate
