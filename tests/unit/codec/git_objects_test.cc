#include "codec/git_objects.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace wardmote::codec {
namespace {

using namespace std::string_literals;

// git 2.39: `printf hello > a && printf 'x\n' > 'b c'`, both committed.
const std::string kA = "b6fc4c620b67d95f953a5c1c1230aaab5db5a1b0";
const std::string kB = "587be6b4c3f93f93c489c0111bba5596147a26cb";
const std::string kTree = "100644 blob " + kA + "\ta\0"s + "100755 blob " + kB + "\td/b c\0"s;

TEST(GitObjects, TheFilesOfATree) {
  const auto files = parse_git_tree(kTree, 2);
  ASSERT_TRUE(files) << files.error().describe();
  ASSERT_EQ(files->size(), 2U);
  EXPECT_EQ(files->at(0).mode, "100644");
  EXPECT_EQ(files->at(0).id, kA);
  EXPECT_EQ(files->at(0).path, "a");
  EXPECT_EQ(files->at(1).path, "d/b c");
  EXPECT_TRUE(parse_git_tree("", 0)->empty());
}

TEST(GitObjects, LinksAndOtherRepositoriesAreListedAsSuch) {
  const auto files =
      parse_git_tree("120000 blob " + kA + "\tl\0"s + "160000 commit " + kB + "\tm\0"s, 9);
  ASSERT_TRUE(files);
  EXPECT_EQ(files->at(0).mode, "120000");
  EXPECT_EQ(files->at(1).mode, "160000");
}

TEST(GitObjects, ATreeThatNobodyCanReadIsNoEmptyOne) {
  for (const std::string& output :
       {kTree.substr(0, kTree.size() - 1), "100644 blob " + kA + "\t\0"s, "100644 blob\ta\0"s,
        "100644 blob " + kA.substr(1) + "\ta\0"s, "100644 tree " + kA + "\ta\0"s,
        "10064x blob " + kA + "\ta\0"s, "100644 blob " + kA + " a\0"s, "\0"s})
    EXPECT_EQ(parse_git_tree(output, 9).error().code, Errc::kProtocol) << output;
}

TEST(GitObjects, TwoEntriesOfOneNameAreNoTree) {
  const std::string twice = "100644 blob " + kA + "\ta\0"s + "100644 blob " + kB + "\ta\0"s;
  const auto files = parse_git_tree(twice, 9);
  ASSERT_FALSE(files);
  EXPECT_EQ(files.error().context, "git ls-tree: a is there twice");
  EXPECT_FALSE(parse_git_tree("040000 tree " + kA + "\td\0"s + "100644 blob " + kB + "\td\0"s, 9));
}

TEST(GitObjects, OnlySoManyFiles) {
  EXPECT_EQ(parse_git_tree(kTree, 1).error().code, Errc::kLimit);
}

TEST(GitObjects, TheContentsInTheOrderOfTheFiles) {
  const auto files = parse_git_tree(kTree, 2);
  const auto contents = parse_git_contents(kA + " blob 5\nhello\n" + kB + " blob 2\nx\n\n", *files);
  ASSERT_TRUE(contents) << contents.error().describe();
  EXPECT_EQ(*contents, (std::vector<std::string>{"hello", "x\n"}));
}

TEST(GitObjects, AFolderIsReadTooAndComparedWithItsName) {
  // git 2.39: the tree of the file `a` with `hello` in it.
  const std::string id = "8917ce3833750c0f424a16966ef3391aafe880c1";
  const std::string bytes =
      "100644 a\0\xb6\xfc\x4c\x62\x0b\x67\xd9\x5f\x95\x3a\x5c\x1c\x12\x30"
      "\xaa\xab\x5d\xb5\xa1\xb0"s;
  const auto files = parse_git_tree("040000 tree " + id + "\td\0"s, 1);
  ASSERT_TRUE(files);
  const std::string head = id + " tree " + std::to_string(bytes.size()) + "\n";
  EXPECT_TRUE(parse_git_contents(head + bytes + "\n", *files));
  std::string other = bytes;
  other.back() = '\xb1';
  EXPECT_FALSE(parse_git_contents(head + other + "\n", *files));
}

TEST(GitObjects, ARepositoryOfSha256) {
  // git 2.39: `git init --object-format=sha256; printf hello | git hash-object --stdin`
  const std::string id = "8aec4e4876f854f688d0ebfc8f37598f38e5fd6903cccc850ca36591175aeb60";
  const auto files = parse_git_tree("100644 blob " + id + "\ta\0"s, 1);
  ASSERT_TRUE(parse_git_contents(id + " blob 5\nhello\n", *files));
  EXPECT_FALSE(parse_git_contents(id + " blob 5\nhallo\n", *files));
}

TEST(GitObjects, ContentsThatAreNotWhatWasAskedFor) {
  const auto files = parse_git_tree(kTree, 2);
  const std::string a = kA + " blob 5\nhello\n";
  const std::string b = kB + " blob 2\nx\n\n";
  for (const std::string& output :
       {""s, a, b + a, a + b + "y", a + b.substr(0, b.size() - 1), a + kB + " missing\n",
        kA + " blob 5\nhallo\n" + b, kA + " tree 5\nhello\n" + b, kA + " blob 4\nhello\n" + b,
        kA + " blob 6\nhello\n" + b, kA + " blob 18446744073709551615\nhello\n" + b,
        kA + " blob -1\nhello\n" + b})
    EXPECT_EQ(parse_git_contents(output, *files).error().code, Errc::kProtocol) << output;
}

TEST(GitObjects, NamesOfObjects) {
  EXPECT_TRUE(is_git_id(kA));
  EXPECT_TRUE(is_git_id(std::string(64, 'f')));
  for (const std::string_view text : {"", "HEAD", "B6FC4C620B67D95F953A5C1C1230AAAB5DB5A1B0"})
    EXPECT_FALSE(is_git_id(text)) << text;
  EXPECT_FALSE(is_git_id(kA + "0"));
}

}  // namespace
}  // namespace wardmote::codec
