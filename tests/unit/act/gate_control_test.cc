// Orders of operators to a gate, and what its nodes make of them.
#include "act/gate/gate_control.h"

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "act/act_log.h"
#include "act/gate/records.h"
#include "base/result.h"
#include "runtime/task.h"
#include "store/store.h"
#include "unit/act/fake_leadership.h"
#include "unit/act/gate_fixture.h"

namespace wardmote::act::gate {
namespace {

using namespace std::chrono_literals;

class GateControlTest : public GateTest {
 protected:
  /// At this node; what came of the order when it was stored, or why it was refused.
  std::string give(TestNode& at, const std::function<GateControl::Written(GateControl&)>& order) {
    GateControl control(at.us, at.store, at.node,
                        [this] { return open ? journal.get() : nullptr; });
    if (!journal) {
      journal = std::make_unique<ActLog>(at.us, nullptr, nullptr, leadership);
      EXPECT_TRUE(at.run(journal->open()));
    }
    const GateControl::Written written = order(control);
    if (!written) return "refused: " + written.error().context;
    const std::optional<std::string> complaint = at.run((*written)->wait());
    at.run(end(&control));
    return complaint.value_or("done");
  }
  static Task<int> end(GateControl* control) {
    co_await control->stop();
    co_return 0;
  }
  std::vector<std::string> rows() const {
    std::vector<std::string> found;
    for (const auto& row : journal->journal().recent())
      found.push_back(row.kind + " " + row.step + " " + row.subject + " by " + row.actor);
    return found;
  }

  FakeLeadership leadership;
  std::unique_ptr<ActLog> journal;
  bool open = true;
};

TEST_F(GateControlTest, WhoIsForgottenNoLongerBlocks) {
  const auto old = make("old", product(1));
  ASSERT_TRUE(until([&] { return old->ready(); }));
  const auto b = make("b", product(2, 2));
  ASSERT_TRUE(until([&] { return b->leader.leads(); }, 10s));
  EXPECT_EQ(give(*b, [](auto& to) { return to.forget("b", "ann"); }),
            "refused: b is this node, which lives");
  EXPECT_EQ(give(*b, [](auto& to) { return to.forget("nobody", "ann"); }),
            "refused: no node 'nobody' is registered");
  old->stop();
  EXPECT_EQ(give(*b, [](auto& to) { return to.forget("old", "ann"); }), "done");
  ASSERT_TRUE(until([&] { return status().minimum == Release{.major = 2}; }));
  EXPECT_EQ(rows(), (std::vector<std::string>{"intent force-forget old by ann",
                                              "result force-forget old by ann"}));
  const auto again = make("old", product(1), false, "old again");
  world.run_for(10s);
  EXPECT_FALSE(again->ready()) << "if it lives after all, it may not serve";
}

TEST_F(GateControlTest, WhoHasJustRegisteredAnewIsNotForgotten) {
  const auto a = make("a", product(1));
  ASSERT_TRUE(until([&] { return a->ready(); }));
  write(store::Put{"gate/nodes/x", write_node({.node = "x", .boot = "1"}, {.major = 1}, "")});
  ASSERT_TRUE(until([&] { return a->node.registration("x").has_value(); }));
  a->store.deaf = "gate/nodes/";
  world.run_for(6s);
  write(store::Put{"gate/nodes/x", write_node({.node = "x", .boot = "2"}, {.major = 1}, "")});
  EXPECT_EQ(give(*a, [](auto& to) { return to.forget("x", "ann"); }),
            "it has just changed; look again, and repeat the order");
  EXPECT_TRUE(read("gate/nodes/x"));
  EXPECT_EQ(rows().back(), "dropped force-forget x by ann");
}

TEST_F(GateControlTest, WithoutAJournalNothingIsOrdered) {
  const auto a = make("a", product(1));
  ASSERT_TRUE(until([&] { return a->ready(); }));
  open = false;
  EXPECT_EQ(give(*a, [](auto& to) { return to.pause(0s, "ann"); }), "the journal is not open yet");
  EXPECT_FALSE(read(kLayout.pause()));
}

TEST_F(GateControlTest, APauseOfTheGateStopsEverybodyAndEnds) {
  objects.takes = 1h;
  const auto a = make("a", product(1));
  const auto b = make("b", product(1));
  ASSERT_TRUE(until([&] { return objects.under_way == 1; }, 1min));
  EXPECT_EQ(give(*b, [](auto& to) { return to.pause(10s, "ann"); }), "done");
  EXPECT_TRUE(b->leader.pause()) << "the answer to the order shows it";
  ASSERT_TRUE(until([&] { return objects.under_way == 0; }, 1s));
  EXPECT_NE(a->leader.complaint()->find("paused by ann"), std::string::npos);
  world.run_for(8s);
  EXPECT_EQ(objects.under_way, 0);
  ASSERT_TRUE(until([&] { return objects.under_way == 1; }, 1min)) << "it was for ten seconds";
  EXPECT_EQ(give(*b, [](auto& to) { return to.pause(0s, "ann"); }), "done");
  world.run_for(5min);
  EXPECT_EQ(objects.under_way, 0);
  EXPECT_EQ(give(*b, [](auto& to) { return to.resume("bob"); }), "done");
  EXPECT_FALSE(b->leader.pause());
  EXPECT_TRUE(until([&] { return objects.under_way == 1; }, 1min));
  EXPECT_EQ(rows().back(), "result resume  by bob");
}

TEST_F(GateControlTest, WhatIsNotPausedByItselfIsNotResumed) {
  const auto a = make("a", product(1));
  ASSERT_TRUE(until([&] { return a->ready(); }));
  EXPECT_EQ(give(*a, [](auto& to) { return to.resume("ann"); }),
            "refused: this gate is not paused by itself; if everything is, 'wardmote resume' ends "
            "that");
  EXPECT_FALSE(a->leader.all_paused());
  write(store::Put{"pause/", R"({"by":"the agent","at":0})"});
  ASSERT_TRUE(until([&] { return a->leader.pause().has_value(); }));
  EXPECT_TRUE(a->leader.all_paused());
  EXPECT_TRUE(give(*a, [&](auto& to) {
                return to.resume("ann", a->leader.pause());
              }).contains("and not this gate by itself: 'wardmote resume' ends that"));
  EXPECT_TRUE(rows().empty());
  EXPECT_EQ(give(*a, [](auto& to) { return to.pause(1h, "ann"); }), "done");
  EXPECT_FALSE(a->leader.all_paused());
  EXPECT_EQ(give(*a, [&](auto& to) { return to.resume("ann", a->leader.pause()); }), "done");
}

/// The registrations are ahead: somebody registers while the pause is on its way to us.
TEST_F(GateControlTest, AnOrderIsAnsweredWhenItsOwnRecordIsInView) {
  const auto a = make("a", product(1));
  ASSERT_TRUE(until([&] { return a->ready(); }));
  a->store.deaf = kLayout.state;
  world.run_for(6s);
  write(store::Put{"gate/nodes/x", write_node({.node = "x", .boot = "1"}, {.major = 1}, "")});
  ASSERT_TRUE(until([&] { return a->node.registration("x").has_value(); }));
  const store::Revision at = read("gate/nodes/x")->mod_revision;
  EXPECT_TRUE(a->node.sees("gate/nodes/x", at));
  EXPECT_FALSE(a->node.sees(kLayout.pause(), at)) << "nothing was heard of that part";
}

TEST_F(GateControlTest, APreservedReleaseIsNotRaisedAndOneThatNobodyHasIsRefused) {
  const auto old = make("old", product(1));
  ASSERT_TRUE(until([&] { return old->ready(); }));
  EXPECT_EQ(give(*old, [](auto& to) { return to.preserve({.major = 2}, "ann"); }),
            "refused: no node of release 2.0.0 is registered, so nobody could write; registered "
            "are nodes of 1.0.0");
  EXPECT_EQ(give(*old, [](auto& to) { return to.preserve({.major = 1}, "ann"); }), "done");
  const auto b = make("b", product(2), false);
  ASSERT_TRUE(until([&] { return old->node.registration("b").has_value(); }));
  EXPECT_EQ(give(*old, [](auto& to) { return to.preserve({.major = 2}, "bob"); }),
            "refused: release 1.0.0 is preserved, by ann: 'wardmote gate finalize g' ends that "
            "first");
  EXPECT_EQ(give(*old, [](auto& to) { return to.preserve({.major = 1}, "bob"); }), "done");
}

TEST_F(GateControlTest, WhileAReleaseIsPreservedOnlyItWritesUntilItIsFinalized) {
  const auto old = make("old", product(1));
  ASSERT_TRUE(until([&] { return old->ready(); }));
  EXPECT_EQ(give(*old, [](auto& to) { return to.preserve({.major = 1}, "ann"); }), "done");
  const auto b = make("b", product(2));
  world.run_for(2min);
  EXPECT_TRUE(old->leader.leads() && !b->leader.leads());
  EXPECT_EQ(objects.written.back(), "old 1.0.0");
  EXPECT_EQ(status().version, (Release{.major = 1}));
  EXPECT_TRUE(b->ready()) << "the objects fit it";
  // The old leader comes back, and goes on beside the newer node.
  EXPECT_EQ(give(*b, [](auto& to) { return to.finalize("ann"); }), "done");
  ASSERT_TRUE(until([&] { return objects.written.back() == "b 2.0.0"; }, 1min));
  EXPECT_FALSE(old->leader.leads());
  ASSERT_TRUE(until([&] { return b->node.report().stored.status.version == Release{.major = 2}; }));
  EXPECT_EQ(give(*b, [](auto& to) { return to.preserve({.major = 1}, "ann"); }),
            "refused: release 2.0.0 has written the objects already: it is too late to preserve "
            "1.0.0");
  EXPECT_EQ(objects.most_at_once, 1);
}

/// Nobody knows what it says, so nobody writes.
TEST_F(GateControlTest, APreserveThatCannotBeReadHolds) {
  const auto a = make("a", product(1));
  ASSERT_TRUE(until([&] { return a->ready(); }));
  write(store::Put{kLayout.preserve(), "garbage"});
  ASSERT_TRUE(until([&] { return !a->leader.leads(); }, 5s));
  const std::size_t before = objects.written.size();
  world.run_for(5min);
  EXPECT_EQ(objects.written.size(), before);
  ASSERT_TRUE(a->node.report().preserved);
  EXPECT_FALSE(a->node.report().preserved->why.empty());
}

/// A leader whose claim passes the operator's order on its way.
TEST_F(GateControlTest, AClaimThatDidNotHearOfAPreserveChangesNothing) {
  const auto b = make("b", product(2));
  b->store.before = store::Put{kLayout.preserve(), write_preserve({.major = 1}, "ann")};
  world.run_for(1min);
  EXPECT_FALSE(b->store.before) << "it came to a claim";
  EXPECT_TRUE(objects.written.empty());
  EXPECT_FALSE(read(kLayout.claim()));
}

}  // namespace
}  // namespace wardmote::act::gate
