#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "act/reconcile/kube_target.h"
#include "judge/reconcile/adoption.h"
#include "judge/reconcile/report.h"
#include "sim/sim_runtime.h"
#include "sim/world.h"
#include "unit/act/fake_kube.h"
#include "unit/act/fake_tree.h"

namespace wardmote::act::reconcile {

namespace json = boost::json;
using judge::reconcile::ObjectReport;
using judge::reconcile::PassReport;
using runtime::HttpCall;
using runtime::HttpResponse;
using runtime::TreeFile;
using Action = ObjectReport::Action;
using namespace std::chrono_literals;

inline constexpr std::string_view kKubeconfig =
    "current-context: c\nclusters: [{name: c, cluster: {server: 'https://kube:6443'}}]\n"
    "contexts: [{name: c, context: {cluster: c, user: u}}]\nusers: [{name: u, user: {tokenFile: "
    "token}}]\n";
inline constexpr std::string_view kCore =
    R"({"resources":[{"name":"configmaps","kind":"ConfigMap","namespaced":true,"verbs":["list","delete","patch"]},
{"name":"namespaces","kind":"Namespace","namespaced":false,"verbs":["list","delete","patch"]},
{"name":"secrets","kind":"Secret","namespaced":true,"verbs":["list","delete","patch"]}]})";
inline constexpr std::string_view kRbac =
    R"({"resources":[{"name":"clusterroles","kind":"ClusterRole","namespaced":false,"verbs":["list","delete","patch"]}]})";

inline std::string config_map(const std::string& name, const std::string& value,
                              const std::string& notes = "") {
  return "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: " + name +
         (notes.empty() ? "" : "\n  annotations: {" + notes + "}") + "\ndata: {a: '" + value +
         "'}\n";
}
inline std::string path_of(const std::string& name) {
  return "/api/v1/namespaces/default/configmaps/" + name;
}
inline std::string policy(const std::string& key, const std::string& value) {
  return "reconcile.wardmote.io/" + key + ": '" + value + "'";
}

class KubeTargetTest : public ::testing::Test {
 protected:
  KubeTargetTest() {
    tree.files["/k/config"] = kKubeconfig;
    tree.files["/k/token"] = "one\n";
    kube.versions["/api/v1"] = kCore;
    kube.versions["/apis/rbac.authorization.k8s.io/v1"] = kRbac;
    options.login.kubeconfig = "/k/config";
    kube.sleep = [this](Duration pause) -> runtime::Task<void> {
      co_await us.sleep_until(us.now() + pause);
    };
    options.set = "k8s";
  }

  PassReport pass(bool dry = false) {
    if (!target_) target_ = std::make_unique<KubeTarget>(us, kube, &kube, tree, options);
    std::vector<TreeFile> files;
    for (const auto& [path, bytes] : wanted) files.push_back({path, bytes});
    return run_task(world, us,
                    target_->pass(std::move(files), {.dry = dry,
                                                     .deadline = us.deadline_in(5min),
                                                     .token = token_,
                                                     .adopt = adopt,
                                                     .write_until = write_until}));
  }
  /// A new agent, which remembers nothing.
  void restart() { target_.reset(); }
  KubeTarget& target() { return *target_; }
  void want(const std::string& name, const std::string& value = "1",
            const std::string& notes = "") {
    wanted[name + ".yaml"] = config_map(name, value, notes);
  }
  static std::string action(const PassReport& report, const std::string& name) {
    for (const ObjectReport& one : report.touched) {
      if (one.object.ends_with("/" + name)) return std::string(to_string(one.action));
    }
    return "unchanged";
  }
  static std::string why(const PassReport& report, const std::string& name) {
    for (const ObjectReport& one : report.touched) {
      if (one.object.ends_with("/" + name)) return one.why;
    }
    return "";
  }
  [[nodiscard]] std::string value(const std::string& name) const {
    const json::value* const found = kube.data(path_of(name), "a");
    return found == nullptr ? "none" : std::string(found->as_string());
  }
  static bool is(const HttpCall& call, std::string_view method, std::string_view name) {
    return call.method == method &&
           call.url.substr(0, call.url.find('?')).ends_with("/" + std::string(name));
  }

  sim::World world{1};
  sim::SimRuntime& us = world.host("us");
  FakeKube kube;
  FakeTree tree;
  KubeSetOptions options;
  std::map<std::string, std::string> wanted;
  std::function<std::optional<TimePoint>()> write_until;
  std::int64_t token_ = 0;  ///< of the leader
  judge::reconcile::Adoptions adopt;

 private:
  std::unique_ptr<KubeTarget> target_;
};

}  // namespace wardmote::act::reconcile
