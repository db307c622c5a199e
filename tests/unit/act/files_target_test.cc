#include "act/reconcile/files_target.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "judge/reconcile/report.h"
#include "unit/act/files_target_fixture.h"

namespace wardmote::act::reconcile {
namespace {

TEST_F(FilesTargetTest, WritesWhatDiffersAndThenNothing) {
  PassReport report = pass();
  EXPECT_TRUE(report.good()) << summary_of(report);
  EXPECT_EQ(action(report, "a"), "created");
  EXPECT_EQ(there("sub/b"), "2\n");
  EXPECT_EQ(tree.modes.at("/etc/app/a"), 0640);
  const int writes = tree.writes;
  report = pass();
  EXPECT_TRUE(report.good() && report.touched.empty());
  EXPECT_EQ(tree.writes, writes) << "not even the record";
  tree.files["/etc/app/a"] = "drift\n";
  report = pass();
  EXPECT_EQ(action(report, "a"), "changed");
  EXPECT_EQ(there("a"), "1\n");
}

TEST_F(FilesTargetTest, ADryPassWritesNothingAndShowsTheDiff) {
  pass();
  wanted[0].bytes = "one\n";
  const auto before = tree.files;
  const PassReport report = pass(true);
  EXPECT_EQ(report.touched.at(0).diff, "--- a\n+++ a\n@@ -1 +1 @@\n-1\n+one\n");
  EXPECT_EQ(tree.files, before);
}

/// Of the life of the agent before this one.
TEST_F(FilesTargetTest, WhatAKilledAgentLeftIsLookedForInEachFolderOfItsFiles) {
  pass(true);
  pass(false, [] { return std::nullopt; });
  EXPECT_TRUE(tree.swept.empty()) << "by nobody who may not write";
  wanted.push_back({"sub/c", "3\n"});
  pass();
  EXPECT_EQ(tree.swept, (std::vector<std::string>{"/etc/app/a", "/etc/app/sub/b"}));
  tree.swept.clear();
  wanted.erase(wanted.begin());
  pass();
  EXPECT_EQ(tree.swept, (std::vector<std::string>{"/etc/app/a", "/etc/app/sub/b"}))
      << "also where nothing is wanted any more";
}

TEST_F(FilesTargetTest, AFileOfSomebodyElseIsTakenOverOnlyOnRequest) {
  tree.files["/etc/app/a"] = "theirs\n";
  PassReport report = pass();
  EXPECT_EQ(action(report, "a"), "failed");
  EXPECT_EQ(there("a"), "theirs\n");
  EXPECT_EQ(there("sub/b"), "2\n");
  options.adopt = true;
  report = pass();
  EXPECT_EQ(action(report, "a"), "changed");
  EXPECT_EQ(there("a"), "1\n");
}

TEST_F(FilesTargetTest, AFileOfSomebodyElseWithTheSameBytesStaysHis) {
  tree.files["/etc/app/a"] = "1\n";
  EXPECT_TRUE(pass().good());
  wanted = {{"sub/b", "2\n"}};
  EXPECT_TRUE(pass().good());
  EXPECT_EQ(there("a"), "1\n");
}

TEST_F(FilesTargetTest, DeletesOnlyItsOwnFilesAndOnlyAsItWroteThem) {
  wanted = {{"a", "1"}, {"b", "2"}, {"c", "3"}, {"d", "4"}};
  pass();
  tree.files["/etc/app/theirs"] = "x";
  tree.files["/etc/app/c"] = "changed by hand";
  wanted = {{"a", "1"}, {"d", "4"}};
  const PassReport report = pass();
  EXPECT_TRUE(report.good()) << summary_of(report);
  EXPECT_EQ(there("b"), "none");
  EXPECT_EQ(there("c"), "changed by hand");
  EXPECT_EQ(action(report, "c"), "left");
  EXPECT_EQ(there("theirs"), "x");
  EXPECT_TRUE(pass().touched.empty()) << "what somebody took over is his";
}

/// Another branch, a wrong path: as many files, and none of the old ones.
TEST_F(FilesTargetTest, TheBrakeHoldsInEveryPassAndNothingNewIsMade) {
  wanted = {{"a", "1"}, {"b", "2"}, {"c", "3"}};
  pass();
  wanted = {{"x", "1"}, {"y", "2"}, {"z", "3"}};
  for (int passes = 0; passes < 3; ++passes) {
    const PassReport report = pass();
    EXPECT_FALSE(report.good());
    EXPECT_EQ(there("a"), "1");
    EXPECT_EQ(there("x"), "none");
    EXPECT_EQ(action(report, "x"), "left");
  }
  options.prune_limit = 100;
  EXPECT_TRUE(pass().good());
  EXPECT_EQ(there("a"), "none");
  EXPECT_EQ(there("x"), "1");
}

/// Names of one folder say nothing of what is in another.
TEST_F(FilesTargetTest, ARecordOfAnotherFolderStopsEverything) {
  pass();
  tree.files["/etc/other/a"] = "theirs\n";
  options.folder = "/etc/other";
  const PassReport report = pass();
  ASSERT_EQ(report.faults.size(), 1U);
  EXPECT_TRUE(report.faults.front().contains("/etc/app")) << report.faults.front();
  EXPECT_EQ(tree.files.at("/etc/other/a"), "theirs\n");
  options.folder = "/etc/app";
  EXPECT_TRUE(pass().good());
}

TEST_F(FilesTargetTest, TheBrakeHoldsUntilItIsLoosened) {
  wanted = {{"a", "1"}, {"b", "2"}, {"c", "3"}};
  pass();
  wanted = {{"a", "1"}};
  EXPECT_EQ(pass().prune_refused, "2 of 3 members would be deleted, which is more than 50 %");
  wanted.clear();
  EXPECT_FALSE(pass().good());
  EXPECT_EQ(there("a"), "1");
  options.prune_limit = 100;
  EXPECT_TRUE(pass().good());
  for (const char* const path : {"a", "b", "c"}) EXPECT_EQ(there(path), "none");
}

TEST_F(FilesTargetTest, TheProgramIsRunAfterAChangeUntilItEndsWell) {
  options.on_change = {"reload"};
  reload_status = 1;
  EXPECT_FALSE(pass().good());
  EXPECT_FALSE(pass().good());
  reload_status = 0;
  EXPECT_TRUE(pass().good());
  EXPECT_EQ(reloads, 3);
  EXPECT_TRUE(pass().good());
  EXPECT_EQ(reloads, 3);
}

TEST_F(FilesTargetTest, TheProgramIsNotRunForWhatCannotBeChanged) {
  options.on_change = {"reload"};
  tree.refuses = "/etc/app/sub/b";
  EXPECT_FALSE(pass().good());
  EXPECT_EQ(reloads, 1) << "of a";
  EXPECT_FALSE(pass().good());
  EXPECT_EQ(reloads, 1);
  tree.refuses.clear();
  EXPECT_TRUE(pass().good());
  EXPECT_EQ(reloads, 2);
}

/// It was run again in the next pass, and after a failure in every one.
TEST_F(FilesTargetTest, TheProgramIsRunOnceForWhatIsPutRight) {
  options.on_change = {"reload"};
  ASSERT_TRUE(pass().good());
  tree.files["/etc/app/a"] = "another\n";
  EXPECT_EQ(pass().writes, 1U);
  EXPECT_EQ(reloads, 2);
  EXPECT_TRUE(pass().good());
  EXPECT_EQ(reloads, 2);
  tree.files["/etc/app/a"] = "another\n";
  tree.refuses = "/etc/app/a";
  for (int turn = 0; turn < 3; ++turn) EXPECT_EQ(pass().writes, 0U);
  EXPECT_EQ(reloads, 2);
}

TEST_F(FilesTargetTest, AWriteThatFailedAfterItWasDoneIsAChange) {
  options.on_change = {"reload"};
  tree.refuses_late = "/etc/app/a";
  EXPECT_FALSE(pass().good());
  EXPECT_EQ(reloads, 1);
  EXPECT_TRUE(pass().good()) << "it is there";
  EXPECT_EQ(reloads, 1);
}

/// At each write the power may go. Afterwards every file that was written is known to be ours, the
/// program is run, and nothing of others is deleted.
TEST_F(FilesTargetTest, NoCrashLeavesAFileThatNobodyOwns) {
  options.on_change = {"reload"};
  options.prune_limit = 100;
  for (int moment = 1; moment <= 5; ++moment) {
    tree.begin_anew();
    reloads = 0;
    tree.files["/etc/app/theirs"] = "x";
    wanted = {{"a", "1\n"}, {"sub/b", "2\n"}};
    tree.left = moment;
    pass();
    const bool changed = there("a") != "none";
    tree.left = 0;
    tree.refuses_all = false;
    EXPECT_TRUE(pass().good());
    if (changed) EXPECT_GE(reloads, 1) << moment;
    wanted.clear();
    EXPECT_TRUE(pass().good());
    EXPECT_EQ(there("a"), "none") << moment;
    EXPECT_EQ(there("theirs"), "x") << moment;
  }
}

TEST_F(FilesTargetTest, ARecordThatNobodyCanReadStopsEverything) {
  tree.files["/data/app.sha256"] = "garbage\n";
  const PassReport report = pass();
  ASSERT_EQ(report.faults.size(), 1U);
  EXPECT_EQ(there("a"), "none");
}

TEST(FileRecord, IsWhatSha256sumChecks) {
  const FileRecord record{
      .folder = "/etc/app", .files = {{"a b", std::string(64, '0')}}, .changed = true};
  EXPECT_EQ(write_record(record),
            "# folder /etc/app\n# changed\n" + std::string(64, '0') + "  a b\n");
  EXPECT_EQ(read_record(write_record(record)).value(), record);
  EXPECT_FALSE(read_record("00  a\n"));
}

TEST_F(FilesTargetTest, WhoMayNotWriteAnyMoreWritesNothing) {
  options.on_change = {"reload"};
  ASSERT_TRUE(pass().good());
  EXPECT_EQ(reloads, 1);
  wanted = {{"a", "2\n"}};
  EXPECT_FALSE(pass(false, [] { return std::nullopt; }).good());
  EXPECT_EQ(there("a"), "1\n");
  // It ends after the first file.
  const auto until_first = [&] {
    return there("a") == "2\n" ? std::nullopt : std::optional(us.now() + 1h);
  };
  const PassReport report = pass(false, until_first);
  EXPECT_FALSE(report.good());
  EXPECT_EQ(there("a"), "2\n");
  EXPECT_EQ(there("sub/b"), "2\n") << "not pruned";
  EXPECT_EQ(reloads, 1);
  EXPECT_TRUE(pass().good());
  EXPECT_EQ(there("sub/b"), "none");
  EXPECT_EQ(reloads, 2) << "the one that was owed";
}

}  // namespace
}  // namespace wardmote::act::reconcile
