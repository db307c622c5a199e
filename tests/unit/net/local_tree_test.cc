#include "net/local_tree.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "net/asio_runtime.h"
#include "runtime/file_tree.h"

namespace wardmote::net {
namespace {

namespace fs = std::filesystem;
using runtime::TreeFile;

class LocalTreeTest : public ::testing::Test {
 protected:
  LocalTreeTest() {
    std::string name = (fs::temp_directory_path() / "wardmote-tree-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
  }
  ~LocalTreeTest() override { fs::remove_all(folder_); }

  void write(const std::string& path, const std::string& bytes) {
    fs::create_directories((folder_ / path).parent_path());
    std::ofstream(folder_ / path) << bytes;
  }
  [[nodiscard]] std::string at(const std::string& path) const { return folder_ / path; }
  [[nodiscard]] std::string bytes_of(const std::string& path) const {
    std::ifstream file(folder_ / path);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  Result<std::vector<TreeFile>> read_tree(runtime::TreeLimits limits = {}) {
    return run_task(runtime_, tree_.read_tree(folder_, limits));
  }
  Result<void> replace(const std::string& path, const std::string& bytes) {
    return run_task(runtime_, tree_.replace({folder_, path}, bytes, 0600));
  }

  AsioRuntime runtime_;
  LocalTree tree_{runtime_};
  fs::path folder_;
};

/// As the kubelet mounts a ConfigMap.
TEST_F(LocalTreeTest, ReadsFilesThroughLinksAndLeavesHiddenOnesOut) {
  write("..2026/a.yaml", "1");
  fs::create_directory_symlink("..2026", folder_ / "..data");
  fs::create_symlink("..data/a.yaml", folder_ / "a.yaml");
  write("sub/b.yaml", "2");
  write(".git/config", "3");
  EXPECT_EQ(read_tree().value(), (std::vector<TreeFile>{{"a.yaml", "1"}, {"sub/b.yaml", "2"}}));
}

TEST_F(LocalTreeTest, WhatIsNoFileIsAnError) {
  EXPECT_EQ(run_task(runtime_, tree_.read_tree(at("gone"), {})).error().code, Errc::kMissing);
  write("a", "12345");
  EXPECT_EQ(read_tree({.file_bytes = 4}).error().code, Errc::kLimit);
  EXPECT_EQ(read_tree({.all_bytes = 4}).error().code, Errc::kLimit);
  write("x/y/z", "1");
  EXPECT_EQ(read_tree({.depth = 1}).error().code, Errc::kLimit);
  fs::remove_all(folder_ / "x");
  fs::create_directory_symlink(".", folder_ / "loop");
  EXPECT_FALSE(read_tree());
  fs::remove(folder_ / "loop");
  ASSERT_EQ(::mkfifo(at("pipe").c_str(), 0600), 0);
  EXPECT_EQ(read_tree().error().code, Errc::kInvalid);
}

TEST_F(LocalTreeTest, ReplacesAFileAndKeepsItsRights) {
  ASSERT_TRUE(replace("new/deep/a", "1"));
  EXPECT_EQ(bytes_of("new/deep/a"), "1");
  EXPECT_EQ(fs::status(folder_ / "new/deep/a").permissions(), fs::perms(0600));
  fs::permissions(folder_ / "new/deep/a", fs::perms(0644));
  ASSERT_TRUE(replace("new/deep/a", "2"));
  EXPECT_EQ(bytes_of("new/deep/a"), "2");
  EXPECT_EQ(fs::status(folder_ / "new/deep/a").permissions(), fs::perms(0644));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_ / "new/deep"), {}), 1)
      << "nothing is left over";
}

TEST_F(LocalTreeTest, ALinkIsNotWrittenThroughNorDeleted) {
  write("target", "theirs");
  fs::create_symlink("target", folder_ / "link");
  EXPECT_EQ(replace("link", "ours").error().code, Errc::kInvalid);
  EXPECT_EQ(run_task(runtime_, tree_.remove({folder_, "link"})).error().code, Errc::kInvalid);
  EXPECT_EQ(bytes_of("target"), "theirs");
}

/// A process that is killed while it writes leaves the new bytes beside the file.
TEST_F(LocalTreeTest, OnlyWhatAKilledWriteHasLeftIsRemoved) {
  write("sub/.wardmote-00000000000000ab", "half");
  write("sub/.wardmote-00000000000000AB", "theirs");
  write("sub/.wardmote-ab", "theirs");
  write("sub/.wardmote-00000000000000ab.yaml", "theirs");
  write("sub/a", "ours");
  fs::create_symlink("a", folder_ / "sub/.wardmote-00000000000000cd");
  write(".wardmote-00000000000000ef", "in another folder");
  const auto removed = run_task(runtime_, tree_.remove_leftovers({folder_, "sub/a"}));
  EXPECT_EQ(removed.value(), 1U);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_ / "sub"), {}), 5);
  EXPECT_FALSE(fs::exists(folder_ / "sub/.wardmote-00000000000000ab"));
  EXPECT_TRUE(fs::exists(folder_ / ".wardmote-00000000000000ef"));
  EXPECT_EQ(run_task(runtime_, tree_.remove_leftovers({folder_, "gone/a"})).value(), 0U);
  fs::create_directory_symlink("sub", folder_ / "link");
  EXPECT_EQ(run_task(runtime_, tree_.remove_leftovers({folder_, "link/a"})).error().code,
            Errc::kInvalid);
}

/// Whoever owns a folder below the root must not lead us elsewhere by it.
TEST_F(LocalTreeTest, ALinkOnTheWayIsNotFollowedEither) {
  write("victim/s", "theirs");
  write("root/own/s", "ours");
  fs::remove_all(folder_ / "root/own");
  fs::create_directory_symlink(folder_ / "victim", folder_ / "root/own");
  const runtime::TreePlace through{at("root"), "own/s"};
  EXPECT_EQ(run_task(runtime_, tree_.replace(through, "x", 0600)).error().code, Errc::kInvalid);
  EXPECT_EQ(run_task(runtime_, tree_.remove(through)).error().code, Errc::kInvalid);
  EXPECT_EQ(run_task(runtime_, tree_.read_own(through, 10)).error().code, Errc::kInvalid);
  EXPECT_EQ(bytes_of("victim/s"), "theirs");
  fs::create_symlink(folder_ / "victim/s", folder_ / "root/link");
  EXPECT_EQ(run_task(runtime_, tree_.read_own({at("root"), "link"}, 10)).error().code,
            Errc::kInvalid);
  // A link to the root is the operator's own.
  fs::create_directory_symlink(folder_ / "root", folder_ / "alias");
  ASSERT_TRUE(run_task(runtime_, tree_.replace({at("alias"), "new/s"}, "x", 0600)));
  EXPECT_EQ(bytes_of("root/new/s"), "x");
  EXPECT_EQ(run_task(runtime_, tree_.read_own({at("alias"), "new/s"}, 10)).value(), "x");
}

TEST_F(LocalTreeTest, SaysWhatIsInTheWayOfAFile) {
  const auto block = [this](const std::string& below) {
    return run_task(runtime_, tree_.find_block({folder_, below})).value();
  };
  write("file", "1");
  write("folder/deep/.hidden", "2");
  fs::create_directories(folder_ / "folder/empty/deeper");
  fs::create_directory(folder_ / "bare");
  EXPECT_FALSE(block("file") || block("folder/new") || block("gone") || block("gone/new"));
  EXPECT_EQ(block("file/a/b").value().below, "file");
  EXPECT_FALSE(block("file/a/b").value().folder);
  auto found = block("folder").value();
  EXPECT_TRUE(found.folder);
  std::ranges::sort(found.inside);
  EXPECT_EQ(found.inside,
            (std::vector<std::string>{"folder/deep/.hidden", "folder/empty/deeper/"}));
  EXPECT_TRUE(block("bare").value().folder && block("bare").value().inside.empty());
  fs::create_directory_symlink("folder", folder_ / "link");
  for (const char* const through : {"link", "link/a"})
    EXPECT_EQ(run_task(runtime_, tree_.find_block({folder_, through})).error().code,
              Errc::kInvalid);
}

TEST_F(LocalTreeTest, RemovesAFolderOnlyWhenNothingIsInIt) {
  const auto remove = [this](const std::string& below) {
    return run_task(runtime_, tree_.remove_folder({folder_, below}));
  };
  write("folder/deep/a", "1");
  EXPECT_FALSE(remove("folder"));
  EXPECT_EQ(remove("folder/deep/a").error().code, Errc::kInvalid);
  fs::remove(folder_ / "folder/deep/a");
  EXPECT_FALSE(remove("folder"));
  EXPECT_TRUE(remove("folder/deep") && remove("folder/deep") && remove("folder"));
  EXPECT_FALSE(fs::exists(folder_ / "folder"));
  fs::create_directory(folder_ / "theirs");
  fs::create_directory_symlink("theirs", folder_ / "link");
  EXPECT_EQ(remove("link").error().code, Errc::kInvalid);
  EXPECT_TRUE(fs::exists(folder_ / "theirs"));
}

TEST_F(LocalTreeTest, NoPlaceLeadsOutOfItsRoot) {
  write("s", "theirs");
  fs::create_directory(folder_ / "root");
  for (const char* const below : {"../s", "a/../../s", "", ".", "..", "a//s", "/s", "./s", "a/"}) {
    const runtime::TreePlace place{at("root"), below};
    EXPECT_EQ(run_task(runtime_, tree_.replace(place, "x", 0600)).error().code, Errc::kInvalid)
        << below;
    EXPECT_EQ(run_task(runtime_, tree_.remove(place)).error().code, Errc::kInvalid) << below;
    EXPECT_EQ(run_task(runtime_, tree_.read_own(place, 10)).error().code, Errc::kInvalid) << below;
    EXPECT_EQ(run_task(runtime_, tree_.remove_folder(place)).error().code, Errc::kInvalid) << below;
    EXPECT_EQ(run_task(runtime_, tree_.find_block(place)).error().code, Errc::kInvalid) << below;
  }
  EXPECT_EQ(bytes_of("s"), "theirs");
  EXPECT_TRUE(fs::is_empty(folder_ / "root"));
}

TEST_F(LocalTreeTest, RemovesAFileAndIsContentWithOneThatIsGone) {
  write("a", "1");
  EXPECT_TRUE(run_task(runtime_, tree_.remove({folder_, "a"})));
  EXPECT_TRUE(run_task(runtime_, tree_.remove({folder_, "a"})));
  EXPECT_FALSE(fs::exists(folder_ / "a"));
  EXPECT_TRUE(run_task(runtime_, tree_.remove({folder_, "gone/a"})));
  EXPECT_EQ(run_task(runtime_, tree_.read(at("a"), 10)).value(), std::nullopt);
  EXPECT_EQ(run_task(runtime_, tree_.read_own({folder_, "a"}, 10)).value(), std::nullopt);
  EXPECT_EQ(run_task(runtime_, tree_.read_own({folder_, "gone/a"}, 10)).value(), std::nullopt);
  write("b", "12");
  EXPECT_EQ(run_task(runtime_, tree_.read(at("b"), 10)).value(), "12");
  EXPECT_EQ(run_task(runtime_, tree_.read(at("b"), 1)).error().code, Errc::kLimit);
}

}  // namespace
}  // namespace wardmote::net
