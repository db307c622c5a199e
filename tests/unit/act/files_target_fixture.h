#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "act/reconcile/files_target.h"
#include "judge/reconcile/report.h"
#include "runtime/process.h"
#include "sim/sim_runtime.h"
#include "sim/world.h"
#include "unit/act/fake_tree.h"

namespace wardmote::act::reconcile {

using judge::reconcile::ObjectReport;
using judge::reconcile::PassReport;
using runtime::ProcessExit;
using runtime::ProcessSpec;
using runtime::TreeFile;
using namespace std::chrono_literals;

class FilesTargetTest : public ::testing::Test {
 protected:
  FilesTargetTest() {
    options.folder = "/etc/app";
    options.record = "/data/app.sha256";
    options.mode = 0640;
    us.install("reload", [this](const ProcessSpec&) {
      ++reloads;
      return sim::SimRuntime::Performance{.takes = 1s,
                                          .ends = ProcessExit{.status = reload_status}};
    });
  }
  PassReport pass(bool dry = false,
                  std::function<std::optional<TimePoint>()> write_until = nullptr) {
    FilesTarget target(us, tree, options);
    std::vector<TreeFile> files = wanted;
    return run_task(world, us,
                    target.pass(std::move(files), {.dry = dry,
                                                   .deadline = us.deadline_in(1min),
                                                   .write_until = std::move(write_until)}));
  }
  static std::string action(const PassReport& report, const std::string& path) {
    const auto found = std::ranges::find(report.touched, path, &ObjectReport::object);
    return found == report.touched.end() ? "unchanged" : std::string(to_string(found->action));
  }
  static std::string why(const PassReport& report, const std::string& path) {
    const auto found = std::ranges::find(report.touched, path, &ObjectReport::object);
    return found == report.touched.end() ? "" : found->why;
  }
  [[nodiscard]] std::string there(const std::string& path) const {
    const auto found = tree.files.find("/etc/app/" + path);
    return found == tree.files.end() ? "none" : found->second;
  }

  sim::World world{1};
  sim::SimRuntime& us = world.host("us");
  FakeTree tree;
  FilesOptions options;
  std::vector<TreeFile> wanted = {{"a", "1\n"}, {"sub/b", "2\n"}};
  int reloads = 0;
  int reload_status = 0;
};

}  // namespace wardmote::act::reconcile
