#include "judge/version_gate/status_memory.h"

#include <gtest/gtest.h>

#include <cstdint>

#include "judge/version_gate/admission.h"
#include "judge/version_gate/status.h"

namespace wardmote::judge::version_gate {
namespace {

Stored stored(Revision changed, std::int64_t version, Status::State state = Status::State::kDone) {
  return {.kind = Stored::Kind::kReadable,
          .status = {.state = state, .version = {.major = version}, .minimum = {.major = version}},
          .changed = changed};
}

class GateStatusMemory : public ::testing::Test {
 protected:
  GateStatusMemory() {
    now = {.stored = stored(5, 1), .claimed = 4, .claim = "a 3", .revision = 6, .lists = 1};
    memory.look(now);
    now.stored = stored(20, 2);
    now.claimed = 18;
    now.claim = "b 17";
    now.revision = 20;
    memory.look(now);
  }
  /// The store is as it was at revision 6 again.
  void restore() {
    ++now.history;
    ++now.lists;
    now.stored = stored(5, 1);
    now.claimed = 4;
    now.claim = "a 3";
    now.revision = 6;
    memory.look(now);
  }
  StatusMemory::Look now;
  StatusMemory memory;
};

TEST_F(GateStatusMemory, WhatWasSeenCountsUntilAWholePassIsRecorded) {
  EXPECT_FALSE(memory.earlier());
  restore();
  ASSERT_TRUE(memory.earlier());
  EXPECT_EQ(memory.earlier()->stored, stored(20, 2));
  EXPECT_TRUE(memory.earlier()->untouched) << "nobody has claimed in the copy";
  now.claimed = 9;
  memory.look(now);
  EXPECT_FALSE(memory.earlier()->untouched);
  now.stored = stored(10, 1, Status::State::kWorking);
  memory.look(now);
  EXPECT_TRUE(memory.earlier()) << "the pass is not whole";
  now.stored = stored(12, 1);
  memory.look(now);
  EXPECT_FALSE(memory.earlier());
}

TEST_F(GateStatusMemory, AnAnswerFromAnotherHistoryCountsBeforeTheViewIsReadAnew) {
  ++now.history;
  memory.look(now);
  ASSERT_TRUE(memory.earlier());
  EXPECT_FALSE(memory.earlier()->untouched);
  ++now.lists;
  now.stored = stored(5, 1);
  now.claimed = 7;
  memory.look(now);
  EXPECT_FALSE(memory.earlier()->untouched) << "somebody may have claimed already";
}

TEST_F(GateStatusMemory, ACopyThatIsAsNewAsTheGateChangesNothing) {
  ++now.history;
  ++now.lists;
  memory.look(now);
  EXPECT_FALSE(memory.earlier());
}

/// Nothing told of the copy, and revisions have passed those of before: the status itself tells.
TEST_F(GateStatusMemory, AStatusWhoseLastChangeWentBackIsOfAnotherHistory) {
  now.stored = stored(5, 1);
  now.revision = 40;
  memory.look(now);
  EXPECT_TRUE(memory.earlier());
}

TEST_F(GateStatusMemory, OfTwoCopiesTheStricterCounts) {
  restore();
  now.stored = stored(12, 3, Status::State::kWorking);
  now.revision = 12;
  memory.look(now);
  restore();
  ASSERT_TRUE(memory.earlier());
  EXPECT_EQ(memory.earlier()->stored.status.version, (Release{.major = 2}));
  EXPECT_EQ(memory.earlier()->stored.status.minimum, (Release{.major = 3}));
  EXPECT_FALSE(memory.earlier()->untouched);
}

}  // namespace
}  // namespace wardmote::judge::version_gate
