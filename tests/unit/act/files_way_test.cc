// A file that becomes a folder of its name, a folder that becomes a file, and what is in the way.
#include <gtest/gtest.h>

#include <string>

#include "judge/reconcile/report.h"
#include "unit/act/files_target_fixture.h"

namespace wardmote::act::reconcile {
namespace {

using judge::reconcile::PassReport;

class FilesWayTest : public FilesTargetTest {
 protected:
  FilesWayTest() { wanted = {{"a", "1"}, {"b", "1"}, {"c", "1"}, {"d", "1"}}; }
};

/// What was in the way would have gone last, and only when all else had gone well.
TEST_F(FilesWayTest, AFileBecomesAFolderAndAFolderAFile) {
  wanted.push_back({"f", "1"});
  EXPECT_TRUE(pass().good());
  wanted.back() = {"f/deep/y", "2"};
  PassReport report = pass(true);
  EXPECT_TRUE(report.good()) << summary_of(report);
  EXPECT_EQ(action(report, "f"), "pruned");
  EXPECT_EQ(action(report, "f/deep/y"), "created");
  report = pass();
  EXPECT_TRUE(report.good()) << summary_of(report);
  EXPECT_EQ(there("f/deep/y"), "2");
  wanted.back() = {"f", "3"};
  EXPECT_TRUE(pass(true).good());
  report = pass();
  EXPECT_TRUE(report.good()) << summary_of(report);
  EXPECT_EQ(action(report, "f/deep/y"), "pruned");
  EXPECT_EQ(there("f"), "3");
  EXPECT_TRUE(pass().touched.empty());
}

TEST_F(FilesWayTest, AFileOfSomebodyElseInTheWayStaysAndIsSaid) {
  tree.files["/etc/app/f"] = "theirs";
  wanted.push_back({"f/y", "2"});
  const PassReport report = pass();
  EXPECT_EQ(action(report, "f/y"), "failed");
  EXPECT_EQ(why(report, "f/y"), "f is in its way, and it is not ours; remove it");
  EXPECT_EQ(there("f"), "theirs");
  EXPECT_EQ(there("a"), "1") << "the others are made";
}

TEST_F(FilesWayTest, WhatSomebodyHasChangedStaysInTheWayToo) {
  wanted.push_back({"f", "1"});
  wanted.push_back({"g/y", "1"});
  pass();
  tree.files["/etc/app/f"] = "by hand";
  tree.files["/etc/app/g/y"] = "by hand";
  wanted[4] = {"f/y", "2"};
  wanted[5] = {"g", "2"};
  for (int turn = 0; turn < 2; ++turn) {
    const PassReport report = pass();
    EXPECT_EQ(action(report, "f/y"), "failed");
    EXPECT_EQ(why(report, "g"), "g/y is in its way, and it is not ours; remove it");
    EXPECT_EQ(there("f"), "by hand");
    EXPECT_EQ(there("g/y"), "by hand");
  }
}

/// Ours stays as well then, since not everything can be written.
TEST_F(FilesWayTest, AFolderInWhichSomethingElseIsStays) {
  wanted.push_back({"f/y", "1"});
  pass();
  tree.files["/etc/app/f/theirs"] = "x";
  wanted.back() = {"f", "2"};
  for (const bool dry : {true, false}) {
    const PassReport report = pass(dry);
    EXPECT_EQ(why(report, "f"), "f/theirs is in its way, and it is not ours; remove it");
    EXPECT_EQ(action(report, "f/y"), "left");
  }
  EXPECT_EQ(there("f/y"), "1");
  tree.files.erase("/etc/app/f/theirs");
  tree.folders.insert("/etc/app/f/empty");
  EXPECT_EQ(why(pass(), "f"), "f/empty/ is in its way, and it is not ours; remove it");
  tree.folders.erase("/etc/app/f/empty");
  EXPECT_TRUE(pass().good());
  EXPECT_EQ(there("f"), "2");
}

TEST_F(FilesWayTest, AnEmptyFolderOfSomebodyElseStays) {
  tree.folders.insert("/etc/app/f");
  wanted.push_back({"f", "1"});
  const PassReport report = pass();
  EXPECT_EQ(why(report, "f"), "f is in its way, and it is not ours; remove it");
  EXPECT_TRUE(tree.folders.contains("/etc/app/f"));
  EXPECT_EQ(there("a"), "1");
}

/// Somebody puts a folder where a file of ours was.
TEST_F(FilesWayTest, AFolderInThePlaceOfAFileOfOursIsHis) {
  pass();
  tree.files.erase("/etc/app/a");
  tree.files["/etc/app/a/theirs"] = "x";
  EXPECT_EQ(action(pass(), "a"), "failed");
  wanted.erase(wanted.begin());
  EXPECT_TRUE(pass().good()) << "nothing of ours is there";
  EXPECT_EQ(there("a/theirs"), "x");
}

TEST_F(FilesWayTest, TheBrakeHolds) {
  wanted = {{"a", "1"}, {"f", "1"}, {"g", "1"}};
  pass();
  wanted = {{"a", "1"}, {"f/y", "2"}, {"g/y", "2"}};
  EXPECT_FALSE(pass().good());
  EXPECT_EQ(there("f"), "1");
  options.prune_limit = 0;
  const PassReport report = pass();
  EXPECT_EQ(action(report, "f/y"), "failed");
  EXPECT_EQ(why(report, "f/y"), "f is in its way, and nothing is pruned now");
  EXPECT_EQ(there("f"), "1");
  options.prune_limit = 100;
  EXPECT_TRUE(pass().good());
  EXPECT_EQ(there("g/y"), "2");
}

/// With what fails nothing is pruned, also not what is in the way of something else.
TEST_F(FilesWayTest, NothingGoesOutOfTheWayWhileSomethingElseFails) {
  wanted.push_back({"f", "1"});
  pass();
  wanted.back() = {"f/y", "2"};
  wanted[0].bytes = "2";
  tree.refuses = "/etc/app/a";
  PassReport report = pass();
  EXPECT_EQ(action(report, "f/y"), "failed");
  EXPECT_EQ(there("f"), "1");
  tree.refuses.clear();
  EXPECT_TRUE(pass().good());
  EXPECT_EQ(there("f/y"), "2");
}

/// At each step the power may go, and the next pass ends well.
TEST_F(FilesWayTest, NoCrashLeavesItHalfWay) {
  for (int moment = 1; moment <= 8; ++moment) {
    for (const bool folder_first : {true, false}) {
      tree.begin_anew();
      const auto name = [folder_first](bool first) {
        return first == folder_first ? "f/d/y" : "f";
      };
      wanted = {{"a", "1"}, {"b", "1"}, {name(true), "1"}};
      ASSERT_TRUE(pass().good());
      wanted.back() = {name(false), "2"};
      tree.left = moment;
      pass();
      tree.left = 0;
      tree.refuses_all = false;
      const PassReport report = pass();
      EXPECT_TRUE(report.good()) << moment << ": " << summary_of(report);
      EXPECT_EQ(there(name(false)), "2") << moment;
      EXPECT_EQ(there(name(true)), "none") << moment;
      EXPECT_TRUE(pass().touched.empty()) << moment;
    }
  }
}

}  // namespace
}  // namespace wardmote::act::reconcile
