#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/version.h"
#include "config/config.h"
#include "judge/reconcile/fence.h"
#include "judge/version_gate/release.h"
#include "unit/config/config_fixture.h"

namespace wardmote::config {
namespace {

using judge::version_gate::Release;

const std::string kRest = "data: /d\nchecks: [{name: a, other: {}}]\n";

Lines wrong(const std::string& gates) {
  return complaints(kRest + "version_gates: " + gates + "\n");
}

TEST(VersionGatesConfig, ANameIsEnough) {
  const auto config = parse("data: /d\nversion_gates: [{name: k8s}]\n");
  ASSERT_TRUE(config) << "it is something to watch";
  ASSERT_EQ(config->version_gates.size(), 1U);
  const VersionGate& gate = config->version_gates.front();
  EXPECT_EQ(to_string(gate.own.release), kVersion);
  EXPECT_EQ(gate.layout.state, "/wardmote/default/gate/k8s/state/");
  EXPECT_EQ(gate.layout.nodes, "/wardmote/default/gate/k8s/nodes/");
  EXPECT_TRUE(gate.enroll);
  EXPECT_FALSE(gate.reconcile);
  EXPECT_EQ(gate.ttl, 6s);
}

TEST(VersionGatesConfig, EverythingCanBeSaid) {
  const auto config = parse(
      kRest +
      "version_gates: [{name: k8s, release: 1.4.2, min_reconciler_release: 1.3.0, "
      "min_apiserver_release: 1.2.0, register: false, state_prefix: "
      "curator//kubernetes/reconciler/, "
      "nodes_prefix: curator//nodes/, ttl: 9s, reconcile: {mode: act, command: [/bin/apply, -f], "
      "timeout: 1m, every: 1m, wait: 8s, write_deadline: 2s}}]\n");
  ASSERT_TRUE(config);
  const VersionGate& gate = config->version_gates.at(0);
  EXPECT_EQ(gate.own.release, (Release{1, 4, 2}));
  EXPECT_EQ(gate.own.min_reconciler_release, (Release{1, 3, 0}));
  EXPECT_EQ(gate.own.min_apiserver_release, (Release{1, 2, 0}));
  EXPECT_FALSE(gate.enroll);
  EXPECT_EQ(gate.layout.state, "curator//kubernetes/reconciler/");
  ASSERT_TRUE(gate.reconcile);
  EXPECT_TRUE(gate.reconcile->acts);
  EXPECT_EQ(gate.reconcile->command, (std::vector<std::string>{"/bin/apply", "-f"}));
  EXPECT_EQ(gate.timing.reconcile_wait, 8s);
  EXPECT_EQ(gate.timing.pass_every, 1min);
}

/// Each would delete what the other makes.
TEST(VersionGatesConfig, TwoGatesDoNotKeepTheSameThings) {
  const auto two = [](const std::string& a, const std::string& b) {
    return wrong("[{name: a, reconcile: {manifests: /m, " + a +
                 "}}, {name: b, reconcile: {manifests: /n, " + b + "}}]");
  };
  EXPECT_EQ(two("kubernetes: {set: s}", "kubernetes: {set: s}").size(), 1U);
  EXPECT_EQ(two("files: {folder: /etc/app}", "files: {folder: /etc/app/}").size(), 1U);
  EXPECT_TRUE(two("kubernetes: {set: s}", "kubernetes: {set: t}").empty());
  EXPECT_TRUE(two("kubernetes: {set: s}", "kubernetes: {set: s, kubeconfig: /k}").empty());
  EXPECT_TRUE(two("files: {folder: /etc/a}", "files: {folder: /etc/b}").empty());
  EXPECT_TRUE(two("kubernetes: {set: s}", "files: {folder: /etc/b}").empty());
}

/// They would write each other's files in turns, for ever; a link hides that from who reads it.
TEST(VersionGatesConfig, FoldersThatOverlapAreRefused) {
  std::string root = ::testing::TempDir() + "wardmote-folders-XXXXXX";
  ASSERT_NE(::mkdtemp(root.data()), nullptr);
  std::filesystem::create_directories(root + "/app");
  std::filesystem::create_symlink(root + "/app", root + "/link");
  const auto two = [&](const std::string& a, const std::string& b) {
    return wrong("[{name: a, reconcile: {manifests: /m, files: {folder: " + root + a +
                 "}}}, {name: b, reconcile: {manifests: /n, files: {folder: " + root + b + "}}}]");
  };
  EXPECT_EQ(two("/app", "/link").size(), 1U);
  EXPECT_EQ(two("/app", "/app/in").size(), 1U);
  EXPECT_EQ(two("/link/in/deep", "/app").size(), 1U);
  EXPECT_EQ(two("/app", "/../" + root.substr(root.rfind('/')) + "/app").size(), 1U);
  EXPECT_TRUE(two("/app", "/apple").empty());
  const auto one = [&](const std::string& manifests, const std::string& folder) {
    return complaints("data: " + root + "/data\nchecks: [{name: a, other: {}}]\n" +
                      "version_gates: [{name: a, reconcile: {manifests: " + root + manifests +
                      ", files: {folder: " + root + folder + "}}}]\n");
  };
  EXPECT_EQ(one("/app", "/app").size(), 1U);
  EXPECT_EQ(one("/app", "/link/in").size(), 1U);
  EXPECT_EQ(one("/m", "/data").size(), 1U);
  EXPECT_EQ(one("/m", "/data/reconcile").size(), 1U);
  EXPECT_TRUE(one("/m", "/app").empty());
  EXPECT_TRUE(one("/app/src", "/app").empty());
  std::filesystem::remove_all(root);
}

TEST(VersionGatesConfig, ItOnlyObservesUnlessToldToAct) {
  const auto config = parse(kRest + "version_gates: [{name: g, reconcile: {command: [x]}}]\n");
  ASSERT_TRUE(config);
  EXPECT_FALSE(config->version_gates.at(0).reconcile->acts);
}

TEST(VersionGatesConfig, AFolderAndATargetInsteadOfAProgram) {
  const auto kube = parse(kRest +
                          "version_gates: [{name: g, reconcile: {manifests: /m/, kubernetes: "
                          "{kubeconfig: /k, context: c, "
                          "set: s, namespace: n, inventory_namespace: i, prune_limit: 10, fence: "
                          "require}}}]\n");
  ASSERT_TRUE(kube);
  const Reconcile& objects = *kube->version_gates.at(0).reconcile;
  EXPECT_EQ(objects.source, act::reconcile::SourceOptions(act::reconcile::FolderOptions{"/m"}));
  ASSERT_TRUE(objects.kubernetes);
  EXPECT_EQ(*objects.kubernetes,
            (act::reconcile::KubeSetOptions{.login = {.kubeconfig = "/k", .context = "c"},
                                            .set = "s",
                                            .space = "n",
                                            .inventory_space = "i",
                                            .prune_limit = 10,
                                            .fence = judge::reconcile::FenceWish::kRequire}));
  const auto files =
      parse(kRest +
            "version_gates: [{name: g, reconcile: {manifests: /m, files: {folder: /f, "
            "mode: '0640', adopt: true, prune_limit: 100, on_change: [x, y]}}}]\n");
  ASSERT_TRUE(files);
  EXPECT_EQ(*files->version_gates.at(0).reconcile->files,
            (act::reconcile::FilesOptions{.folder = "/f",
                                          .record = "/d/reconcile/g.sha256",
                                          .mode = 0640,
                                          .adopt = true,
                                          .prune_limit = 100,
                                          .on_change = {"x", "y"}}));
}

act::reconcile::SourceOptions source_of(const std::string& words) {
  const auto config = parse(kRest + "version_gates: [{name: g, reconcile: {" + words +
                            ", kubernetes: "
                            "{kubeconfig: /k, context: c}}}]\n");
  EXPECT_TRUE(config) << words;
  return config ? *config->version_gates.at(0).reconcile->source : act::reconcile::SourceOptions();
}

TEST(VersionGatesConfig, ACommitInsteadOfAFolder) {
  using act::reconcile::GitOptions;
  using act::reconcile::SourceOptions;
  EXPECT_EQ(source_of("git: {work_tree: /r/}"), SourceOptions(GitOptions{.work_tree = "/r"}));
  EXPECT_EQ(source_of("git: {work_tree: /r, ref: v1.2, path: deploy/base/}"),
            SourceOptions(GitOptions{.work_tree = "/r", .ref = "v1.2", .path = "deploy/base"}));
}

TEST(VersionGatesConfig, AConfigMapInsteadOfAFolderWithTheLoginOfTheTarget) {
  using act::reconcile::ConfigMapOptions;
  using act::reconcile::SourceOptions;
  EXPECT_EQ(source_of("config_map: {namespace: n, name: m}"),
            SourceOptions(ConfigMapOptions{
                .login = {.kubeconfig = "/k", .context = "c"}, .space = "n", .name = "m"}));
  EXPECT_EQ(source_of("config_map: {namespace: n, name: m, kubeconfig: /other}"),
            SourceOptions(
                ConfigMapOptions{.login = {.kubeconfig = "/other"}, .space = "n", .name = "m"}));
}

TEST(VersionGatesConfig, TheSetIsCalledAsTheGate) {
  const auto config =
      parse(kRest + "version_gates: [{name: g, reconcile: {manifests: /m, kubernetes: {}}}]\n");
  ASSERT_TRUE(config);
  EXPECT_EQ(config->version_gates.at(0).reconcile->kubernetes->set, "g");
  EXPECT_EQ(config->version_gates.at(0).reconcile->kubernetes->prune_limit, 50);
  EXPECT_EQ(config->version_gates.at(0).reconcile->kubernetes->fence,
            judge::reconcile::FenceWish::kAuto);
}

TEST(VersionGatesConfig, WhatIsToBeDoneIsSaidOnce) {
  for (const char* const one : {"{}",
                                "{manifests: /m}",
                                "{kubernetes: {}}",
                                "{command: [x], manifests: /m}",
                                "{command: [x], kubernetes: {}}",
                                "{manifests: /m, kubernetes: {}, files: {folder: /f}}",
                                "{manifests: m, kubernetes: {}}",
                                "{manifests: /m, files: {}}",
                                "{manifests: /m, files: {folder: f}}",
                                "{manifests: /m, files: {folder: /f, mode: '9'}}",
                                "{manifests: /m, kubernetes: {namespace: A.b}}",
                                "{manifests: /m, kubernetes: {set: A_b}}",
                                "{manifests: /m, kubernetes: {prune_limit: 101}}",
                                "{manifests: /m, kubernetes: {fence: always}}",
                                "{git: {work_tree: /r}}",
                                "{git: {work_tree: /r}, manifests: /m, kubernetes: {}}",
                                "{git: {}, kubernetes: {}}",
                                "{git: {work_tree: r}, kubernetes: {}}",
                                "{git: {work_tree: /r, ref: --exec}, kubernetes: {}}",
                                "{git: {work_tree: /r, path: /abs}, kubernetes: {}}",
                                "{config_map: {name: m}, kubernetes: {}}",
                                "{config_map: {namespace: n}, kubernetes: {}}",
                                "{config_map: {namespace: n, name: M_}, kubernetes: {}}"}) {
    EXPECT_EQ(wrong(std::string("[{name: g, reconcile: ") + one + "}]").size(), 1U) << one;
  }
}

TEST(VersionGatesConfig, ALeaderWaitsNoLessThanOneThatIsGoneMayWrite) {
  EXPECT_EQ(wrong("[{name: g, ttl: 9s, reconcile: {command: [x]}}]"),
            Lines{"3:47: wait 5s: an earlier leader may write for longer: two thirds of 'ttl' and "
                  "'write_deadline'; write at least 7s"});
  EXPECT_EQ(wrong("[{name: g, reconcile: {command: [x], wait: 4s}}]").size(), 1U);
  EXPECT_TRUE(wrong("[{name: g, ttl: 9s, reconcile: {command: [x], wait: 7s}}]").empty());
}

TEST(VersionGatesConfig, AProductThatAsksForMoreThanItselfIsRefused) {
  EXPECT_EQ(wrong("[{name: g, release: 1.0.0, min_reconciler_release: 1.0.1}]").size(), 1U);
  EXPECT_EQ(wrong("[{name: g, release: 1.0.0, min_apiserver_release: 2.0.0}]").size(), 1U);
  EXPECT_EQ(
      wrong("[{name: g, release: newest}]"),
      Lines{"3:36: release: 'newest' is not of the form 1.2.3; write three numbers, as 1.2.3"});
}

TEST(VersionGatesConfig, TwoGatesShareNoKeys) {
  EXPECT_EQ(wrong("[{name: g}, {name: g}]").size(), 1U);
  EXPECT_EQ(wrong("[{name: g, state_prefix: /x/, nodes_prefix: /y/}, "
                  "{name: h, state_prefix: /x/a/, nodes_prefix: /z/}]")
                .size(),
            1U);
  EXPECT_EQ(wrong("[{name: g, state_prefix: /x/, nodes_prefix: /x/nodes/}]").size(), 1U);
}

TEST(VersionGatesConfig, ItNeedsAStore) {
  EXPECT_EQ(complaints("checks: [{name: a, other: {}}]\nversion_gates: [{name: g}]\n").size(), 1U);
}

}  // namespace
}  // namespace wardmote::config
