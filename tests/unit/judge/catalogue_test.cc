#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>

#include "base/format.h"
#include "judge/finding.h"
#include "support/test_data.h"

namespace wardmote::judge {
namespace {

using namespace std::chrono_literals;

std::filesystem::path pages() {
  return std::filesystem::path(WARDMOTE_TEST_DATA).parent_path().parent_path() / "docs" /
         "findings";
}

std::string page_of(const CodeInfo& row) {
  std::ifstream file(pages() / fmt::format("{}.md", row.name));
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The text on one line, so that line breaks of a page do not matter.
std::string unwrapped(std::string text) {
  for (char& c : text) c = c == '\n' ? ' ' : c;
  return text;
}

std::string words(const Window& window) {
  if (window.rounds == 1) return "after one election round";
  if (window.rounds == 2) return "after two election rounds";
  if (window.fixed == Duration::zero()) return "at once";
  return fmt::format("after {} s", window.fixed / 1s);
}

TEST(Catalogue, EveryCodeCanBeFoundByItsName) {
  std::set<std::string_view> names;
  for (const CodeInfo& row : catalogue()) {
    EXPECT_EQ(parse_code(row.name), row.code);
    EXPECT_EQ(to_string(row.code), row.name);
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_FALSE(row.meaning.empty() || row.evidence.empty() || row.advice.empty()) << row.name;
  }
  EXPECT_EQ(names.size(), 87U);
  EXPECT_EQ(parse_code("raft_stale_member"), Code::kRaftStaleMember);
  EXPECT_EQ(parse_code("RAFT"), std::nullopt);
}

TEST(Catalogue, ARoundIsTheElectionTimerAndASecond) {
  EXPECT_EQ(length({.rounds = 2}, 2s), 4s);
  EXPECT_EQ(length({.rounds = 1, .fixed = 10s}, 5s), 15s);
  EXPECT_EQ(length({}, 600s), 0s);
}

TEST(Catalogue, WhatTurnsCriticalDoesSoLaterThanItIsRaised) {
  for (const CodeInfo& row : catalogue()) {
    if (row.critical_after)
      EXPECT_GT(length(*row.critical_after, 2s), length(row.window, 2s)) << row.name;
  }
}

// Whom to remove is decided in one place, which sees the cluster; a general row sees nothing.
TEST(Catalogue, NoGeneralAdviceRemovesAServerOrRebuildsACluster) {
  for (const CodeInfo& row : catalogue()) {
    const std::string advice(row.advice);
    for (const char* word : {"Kick", "kick it", "kick the", "remove voters", "Remove ghosts",
                             "cluster-to-standalone"}) {
      EXPECT_FALSE(advice.contains(word)) << row.name << ": " << advice;
    }
  }
}

TEST(Pages, EveryCodeHasOneThatSaysWhatTheCatalogueSays) {
  for (const CodeInfo& row : catalogue()) {
    const std::string page = unwrapped(page_of(row));
    ASSERT_TRUE(page.starts_with(fmt::format("# {} ", row.name))) << row.name;
    EXPECT_TRUE(
        page.contains(fmt::format("Severity: {}, {}", to_string(row.severity), words(row.window))))
        << row.name;
    EXPECT_EQ(page.contains("critical after two election rounds."), row.critical_after.has_value())
        << row.name;
    EXPECT_TRUE(page.contains(row.meaning)) << row.name;
    for (const char* heading : {"## What it means", "## How to check", "## What to do",
                                "## What the agent does itself", "## Quiet when"}) {
      EXPECT_TRUE(page.contains(heading)) << row.name << " has no " << heading;
    }
  }
}

TEST(Pages, EveryPageHasACode) {
  for (const auto& entry : std::filesystem::directory_iterator(pages())) {
    EXPECT_TRUE(parse_code(entry.path().stem().string())) << entry.path();
  }
}

}  // namespace
}  // namespace wardmote::judge
