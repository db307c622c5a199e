#include "cli/completion.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <string>

#include "base/text.h"
#include "cli/command_table.h"

namespace wardmote::cli {
namespace {

std::string script(std::string_view shell) {
  return completion_script(command_table(observe::probe_kinds), shell);
}

/// What bash offers after `words`, the last of which is being typed; bash itself runs the script.
std::string offered_by_bash(const std::string& words) {
  const std::string file =
      testing::TempDir() + "wardmote-completion-" + std::to_string(::getpid()) + ".bash";
  std::ofstream(file)
      << script("bash") << "COMP_WORDS=(" << words << ")\n"
      << "COMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n_wardmote\necho \"${COMPREPLY[@]}\"\n";
  std::FILE* output = ::popen(("bash --norc " + file + " 2>&1").c_str(), "r");
  std::string text;
  for (int c = std::fgetc(output); c != EOF; c = std::fgetc(output)) text += static_cast<char>(c);
  ::pclose(output);
  std::remove(file.c_str());
  return std::string(trim(text));
}

TEST(BashCompletion, OffersVerbsOptionsAndChoices) {
  EXPECT_EQ(offered_by_bash("wardmote st"), "status");
  EXPECT_EQ(offered_by_bash("wardmote get ''"),
            "clusters etcd failover meshes members findings checks guests incidents receivers "
            "plans actions "
            "agents "
            "--help");
  EXPECT_EQ(offered_by_bash("wardmote status --o"), "--output");
  EXPECT_EQ(offered_by_bash("wardmote status -o ''"), "table wide json jsonl yaml name");
  EXPECT_EQ(offered_by_bash("wardmote status ovn-sb --output js"), "json jsonl");
  EXPECT_EQ(offered_by_bash("wardmote completion ''"), "bash zsh fish --help");
}

TEST(BashCompletion, KnowsTheCodesAndTheKindsOfProbes) {
  EXPECT_EQ(offered_by_bash("wardmote explain RAFT_STALE_M"), "RAFT_STALE_MEMBER");
  EXPECT_EQ(offered_by_bash("wardmote probe ov"), "ovn ovn_controller ovn_host");
  EXPECT_EQ(offered_by_bash("wardmote probe ovn x --datab"), "--database");
}

TEST(Completion, HasAScriptForEveryShellThatTheVerbNames) {
  for (const std::string_view shell : completion_shells()) {
    EXPECT_TRUE(script(shell).contains("wardmote assess ovn")) << shell;
  }
}

}  // namespace
}  // namespace wardmote::cli
