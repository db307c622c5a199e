#include "act/reconcile/source.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "act/reconcile/options.h"
#include "base/result.h"
#include "runtime/file_tree.h"
#include "runtime/process.h"
#include "sim/sim_runtime.h"
#include "sim/world.h"
#include "unit/act/fake_kube.h"
#include "unit/act/fake_tree.h"
#include "unit/act/kube_target_fixture.h"

namespace wardmote::act::reconcile {
namespace {

using namespace std::string_literals;

const std::string kCommit = "0123456789abcdef0123456789abcdef01234567";
const std::string kBlob = "b6fc4c620b67d95f953a5c1c1230aaab5db5a1b0";

class SourceTest : public ::testing::Test {
 protected:
  /// `git`, whose verbs print this. A fake: tests/integration/test_reconcile_sources.py asks a real
  /// one.
  SourceTest() {
    says["inside"] = {.standard_output = "true\n\n.git\n"};
    says["for-each-ref"] = {.standard_output = "refs/heads/main\n"};
    says["rev-parse"] = {.standard_output = kCommit + "\n"};
    says["ls-tree"] = {.standard_output = "100644 blob " + kBlob + "\ta.yaml\0"s};
    says["cat-file"] = {.standard_output = kBlob + " blob 5\nhello\n"};
    us.install("git", [this](const runtime::ProcessSpec& spec) {
      asked.push_back(spec.argv);
      environment = spec.environment;
      const bool inside = spec.argv.at(4) == "--is-inside-work-tree";
      return sim::SimRuntime::Performance{.takes = takes,
                                          .ends = says.at(inside ? "inside" : spec.argv.at(3))};
    });
    tree.files["/k/config"] = kKubeconfig;
    tree.files["/k/token"] = "one\n";
  }
  Result<SourceFiles> read(SourceOptions options) {
    const auto source = make_source(us, tree, &kube, std::move(options));
    return run_task(world, us, source->read(us.deadline_in(10s)));
  }
  static SourceOptions git(const std::string& path = "") {
    return GitOptions{.work_tree = "/r", .ref = "main", .path = path};
  }
  static SourceOptions map() {
    return ConfigMapOptions{
        .login = {.kubeconfig = "/k/config"}, .space = "default", .name = "wanted"};
  }

  sim::World world{1};
  sim::SimRuntime& us = world.host("us");
  FakeTree tree;
  FakeKube kube;
  std::map<std::string, runtime::ProcessExit> says;
  Duration takes{};
  std::vector<std::vector<std::string>> asked;
  std::vector<std::string> environment;
};

TEST_F(SourceTest, AFolderIsItsFiles) {
  tree.files["/m/a.yaml"] = "hello";
  const auto found = read(FolderOptions{"/m"});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->files, (std::vector<TreeFile>{{"a.yaml", "hello"}}));
  EXPECT_EQ(found->revision, "");
}

TEST_F(SourceTest, ACommitIsReadByItsIdOnceItIsKnown) {
  const auto found = read(git("deploy"));
  ASSERT_TRUE(found) << found.error().describe();
  EXPECT_EQ(found->files, (std::vector<TreeFile>{{"a.yaml", "hello"}}));
  EXPECT_EQ(found->revision, "commit " + kCommit);
  EXPECT_EQ(asked.at(2), (std::vector<std::string>{"git", "-C", "/r", "rev-parse", "--verify",
                                                   "refs/heads/main^{commit}"}));
  EXPECT_EQ(asked.at(3), (std::vector<std::string>{"git", "-C", "/r", "ls-tree", "-z",
                                                   "--full-tree", kCommit + ":"}));
  EXPECT_EQ(asked.at(4), (std::vector<std::string>{"git", "-C", "/r", "ls-tree", "-r", "-t", "-z",
                                                   "--full-tree", kCommit + ":deploy"}));
}

/// Whoever may push a tag must not direct the agent by one that is called like the branch.
TEST_F(SourceTest, ANameThatMeansTwoThingsIsRefused) {
  says["for-each-ref"].standard_output = "refs/heads/main\nrefs/tags/main\n";
  const auto found = read(git());
  EXPECT_EQ(found.error().code, Errc::kRejected);
  EXPECT_TRUE(found.error().context.contains("refs/heads/main, refs/tags/main"));
  // A folder of names is none of them.
  says["for-each-ref"].standard_output = "refs/heads/main\nrefs/tags/main/x\n";
  EXPECT_TRUE(read(git()));
}

TEST_F(SourceTest, AnIdAndAWholeNameMeanThemselves) {
  for (const std::string& name : {kCommit, "HEAD"s, "refs/heads/main"s}) {
    asked.clear();
    ASSERT_TRUE(read(GitOptions{.work_tree = "/r", .ref = name, .path = ""}));
    EXPECT_EQ(asked.at(1).at(5), name + "^{commit}") << "whatever branches there are";
  }
}

TEST_F(SourceTest, ARepositoryAroundTheFolderIsNotTheOne) {
  for (const char* const around : {"true\ninner/\n/outer/.git\n", "false\n\n/outer.git\n", ""}) {
    says["inside"].standard_output = around;
    EXPECT_EQ(read(git()).error().code, Errc::kRejected) << around;
  }
  for (const char* const own : {"false\n\n.\n", "true\n\n/main/.git/worktrees/r\n"}) {
    says["inside"].standard_output = own;
    EXPECT_TRUE(read(git())) << own;
  }
}

TEST_F(SourceTest, NothingThatTheRepositoryNamesIsRun) {
  ASSERT_TRUE(read(git()));
  for (const char* const one : {"GIT_ALLOW_PROTOCOL=", "GIT_NO_REPLACE_OBJECTS=1", "GIT_DIR"})
    EXPECT_NE(std::ranges::find(environment, one), environment.end()) << one;
}

TEST_F(SourceTest, HiddenNamesAreLeftOutAsOfAFolder) {
  says["ls-tree"].standard_output += "100644 blob " + kBlob + "\t.gitignore\0"s + "120000 blob " +
                                     kBlob + "\td/.link\0"s + "160000 commit " + kBlob +
                                     "\t.m/n\0"s;
  const auto found = read(git());
  ASSERT_TRUE(found) << found.error().describe();
  EXPECT_EQ(found->files.size(), 1U);
}

TEST_F(SourceTest, NothingIsLeftOutThatNobodyCanRead) {
  for (const std::string& odd :
       {"120000 blob " + kBlob + "\tlink.yaml\0"s, "160000 commit " + kBlob + "\tmodule\0"s}) {
    says["ls-tree"].standard_output = odd;
    EXPECT_EQ(read(git()).error().code, Errc::kInvalid) << odd;
  }
}

TEST_F(SourceTest, AGitThatFailsIsNoEmptySource) {
  for (const std::string verb : {"for-each-ref", "rev-parse", "ls-tree", "cat-file"}) {
    const auto before = says[verb];
    says[verb] = {.status = 128, .standard_error = "fatal: no\x1b[0m\nmore"};
    const auto found = read(git());
    ASSERT_FALSE(found) << verb;
    EXPECT_TRUE(found.error().describe().contains("git " + verb + " ended with 128: fatal: no"));
    EXPECT_FALSE(found.error().describe().contains('\x1b'));
    says[verb] = {};  // it ends well, and says nothing
    if (verb != "ls-tree" && verb != "for-each-ref") EXPECT_FALSE(read(git())) << verb;
    says[verb] = before;
  }
}

TEST_F(SourceTest, AGitThatHangsEndsWithTheDeadline) {
  takes = 20s;
  EXPECT_EQ(read(git()).error().code, Errc::kTimeout);
}

TEST_F(SourceTest, AFileThatIsTooLargeIsNotCut) {
  const std::string large((4 << 20) + 1, 'x');
  // git 2.39: `head -c 4194305 /dev/zero | tr '\\0' x | git hash-object --stdin`
  const std::string id = "961a3eb80f416473a1e1ccef44dab5bae27c3d6b";
  says["ls-tree"].standard_output = "100644 blob " + id + "\tlarge.yaml\0"s;
  says["cat-file"].standard_output =
      id + " blob " + std::to_string(large.size()) + "\n" + large + "\n";
  EXPECT_EQ(read(git()).error().code, Errc::kLimit);
}

TEST_F(SourceTest, TheKeysOfAConfigMapAreFiles) {
  kube.put(path_of("wanted"), R"({"kind": "ConfigMap", "apiVersion": "v1",
      "metadata": {"name": "wanted", "namespace": "default"},
      "data": {"b.yaml": "two", ".hidden": "x"}, "binaryData": {"a.yaml": "b25l"}})");
  const auto found = read(map());
  ASSERT_TRUE(found) << found.error().describe();
  EXPECT_EQ(found->files, (std::vector<TreeFile>{{"a.yaml", "one"}, {"b.yaml", "two"}}));
  EXPECT_EQ(found->revision, "version 101");
}

TEST_F(SourceTest, AConfigMapThatIsNotThereIsNoEmptyOne) {
  EXPECT_EQ(read(map()).error().code, Errc::kMissing);
  for (const std::string_view rest :
       {R"("data": {"a": 1})", R"("data": [])", R"("binaryData": {"a": "%"})"}) {
    kube.put(path_of("wanted"),
             R"({"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "wanted"}, )" +
                 std::string(rest) + "}");
    EXPECT_EQ(read(map()).error().code, Errc::kProtocol) << rest;
  }
  kube.put(path_of("wanted"), R"({"kind": "ConfigMap", "apiVersion": "v1", "metadata":
      {"name": "wanted", "deletionTimestamp": "2026-11-25T10:00:00Z"}, "data": {}})");
  EXPECT_EQ(read(map()).error().code, Errc::kRejected);
}

TEST(GitRef, IsWhatGitCannotTakeForAnythingElse) {
  for (const std::string_view good : {"HEAD", "main", "v1.2.3", "origin/release-1.4", "0123abc"})
    EXPECT_TRUE(is_git_ref(good)) << good;
  for (const std::string_view bad :
       {"", "-n", "--upload-pack=x", "a..b", "a b", "main^{/fix}", "@{-1}", "a:b", "a~1"})
    EXPECT_FALSE(is_git_ref(bad)) << bad;
}

}  // namespace
}  // namespace wardmote::act::reconcile
