// Expected values are what diff(1) of GNU diffutils 3.8 prints with -u and --label.
#include "judge/reconcile/diff.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "judge/reconcile/report.h"

namespace wardmote::judge::reconcile {
namespace {

TEST(Diff, OfTheSameIsEmpty) {
  EXPECT_EQ(unified_diff("x", "a\n", "a\n"), "");
}

TEST(Diff, HasThreeLinesAround) {
  EXPECT_EQ(unified_diff("x", "1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nfive\n6\n7\n8\n9\n"),
            "--- x\n+++ x\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n");
}

TEST(Diff, OfWhatIsNotThere) {
  EXPECT_EQ(unified_diff("x", "", "a\nb\n"), "--- /dev/null\n+++ x\n@@ -0,0 +1,2 @@\n+a\n+b\n");
  EXPECT_EQ(unified_diff("x", "a\n", ""), "--- x\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n");
}

TEST(Diff, JoinsChangesThatAreNear) {
  EXPECT_EQ(unified_diff("x", "a\n1\n2\n3\n4\n5\n6\nb\n", "A\n1\n2\n3\n4\n5\n6\nB\n"),
            "--- x\n+++ x\n@@ -1,8 +1,8 @@\n-a\n+A\n 1\n 2\n 3\n 4\n 5\n 6\n-b\n+B\n");
  EXPECT_EQ(
      unified_diff("x", "a\n1\n2\n3\n4\n5\n6\n7\nb\n", "A\n1\n2\n3\n4\n5\n6\n7\nB\n"),
      "--- x\n+++ x\n@@ -1,4 +1,4 @@\n-a\n+A\n 1\n 2\n 3\n@@ -6,4 +6,4 @@\n 5\n 6\n 7\n-b\n+B\n");
}

/// Applies a diff, trusting nothing but its lines.
std::string patched(std::string_view before, const std::string& diff) {
  std::vector<std::string_view> old = split(before, '\n');
  std::string result;
  std::size_t at = 0;
  const std::vector<std::string_view> lines = split(diff, '\n');
  for (std::size_t line = 2; line < lines.size(); ++line) {
    const std::string_view text = lines[line];
    if (text.empty()) continue;
    if (text.starts_with("@@ -")) {
      std::string_view range = text.substr(4);
      const std::string_view first = take_until(range, ' ');
      std::string_view number = first;
      std::size_t begin = *parse_number<std::size_t>(take_until(number, ','));
      if (number == "0") ++begin;  // of an empty range the line before it is named
      while (at + 1 < begin) result += std::string(old[at++]) + "\n";
      continue;
    }
    if (text.front() != '+') {
      EXPECT_EQ(old.at(at), text.substr(1));
      ++at;
    }
    if (text.front() != '-') result += std::string(text.substr(1)) + "\n";
  }
  while (at + 1 < old.size()) result += std::string(old[at++]) + "\n";
  return result;
}

TEST(Diff, LeadsFromOneTextToTheOther) {
  EXPECT_TRUE(rc::check([] {
    const auto any_text = [] {
      std::string text;
      for (const int line : *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 4)))
        text += std::string(1, static_cast<char>('a' + line)) + "\n";
      return text;
    };
    const std::string before = any_text();
    const std::string after = any_text();
    RC_PRE(!before.empty());
    RC_ASSERT(before == after || patched(before, unified_diff("x", before, after)) == after);
  }));
}

TEST(PassReport, SaysWhatIsWrongFirst) {
  using Action = ObjectReport::Action;
  PassReport report{.objects = 4};
  EXPECT_TRUE(report.good());
  EXPECT_FALSE(report.differs());
  EXPECT_EQ(summary_of(report), "4 objects");
  report.touched = {{.object = "ConfigMap x/a", .action = Action::kCreated},
                    {.object = "ConfigMap x/b", .action = Action::kLeft}};
  EXPECT_TRUE(report.good() && report.differs());
  EXPECT_EQ(summary_of(report), "4 objects: 1 created, 1 left");
  report.touched.push_back(
      {.object = "ConfigMap x/c", .action = Action::kFailed, .why = "HTTP 403"});
  EXPECT_FALSE(report.good());
  EXPECT_EQ(
      summary_of(report),
      "1 of 4 objects failed, the first is ConfigMap x/c: HTTP 403; 4 objects: 1 created, 1 left");
  EXPECT_FALSE((PassReport{.prune_refused = "too many"}).good());
  EXPECT_FALSE((PassReport{.faults = {"no"}}).good());
}

}  // namespace
}  // namespace wardmote::judge::reconcile
