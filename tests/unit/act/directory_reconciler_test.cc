#include "act/reconcile/directory_reconciler.h"

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "act/act_log.h"
#include "act/gate/reconciler.h"
#include "act/reconcile/target.h"
#include "base/result.h"
#include "judge/reconcile/report.h"
#include "runtime/task.h"
#include "runtime/task_group.h"
#include "sim/sim_runtime.h"
#include "sim/world.h"
#include "unit/act/fake_leadership.h"
#include "unit/act/fake_tree.h"

namespace wardmote::act::reconcile {
namespace {

using judge::reconcile::PassReport;
using runtime::Task;
using namespace std::chrono_literals;

/// Writes one thing, if it may.
class FakeTarget final : public Target {
 public:
  explicit FakeTarget(sim::SimRuntime& us) : us_(us) {}

  Task<PassReport> pass(std::vector<runtime::TreeFile>, PassTerms terms) override {
    PassReport report{.dry = terms.dry, .objects = 1};
    if (terms.dry || nothing_differs) co_return report;
    const Result<void> announced = co_await terms.announce();
    if (!announced) {
      report.faults.push_back(announced.error().describe());
      co_return report;
    }
    rows_at_write = rows();
    co_await us_.sleep_until(us_.now() + 1s);
    ++written;
    report.touched.push_back(
        {.object = "ConfigMap a", .action = judge::reconcile::ObjectReport::Action::kChanged});
    report.touched.back().diff = "SECRET";
    co_return report;
  }
  void watch(const std::function<void()>& drifted) override { drifted_ = drifted; }
  Task<void> stop_watching() override {
    drifted_ = nullptr;
    co_return;
  }

  std::function<std::size_t()> rows;
  std::size_t rows_at_write = 0;
  bool nothing_differs = false;
  int written = 0;
  std::function<void()> drifted_;

 private:
  sim::SimRuntime& us_;
};

class DirectoryReconcilerTest : public testing::Test {
 protected:
  DirectoryReconcilerTest() {
    auto target = std::make_unique<FakeTarget>(us);
    fake = target.get();
    fake->rows = [this] { return log.journal().recent().size(); };
    reconciler = std::make_unique<DirectoryReconciler>(
        us, tree, std::move(target),
        DirectoryOptions{
            .folder = "/m", .timeout = 1min, .gate = "k8s", .node = "ctl-1", .journal = [this] {
              return open ? &log : nullptr;
            }});
    EXPECT_TRUE(run_task(world, us, log.open()));
  }
  Result<void> pass() { return run_task(world, us, reconciler->pass({.gate = "k8s", .token = 7})); }
  std::vector<std::string> rows() const {
    std::vector<std::string> found;
    for (const auto& row : log.journal().recent())
      found.push_back(row.kind + " " + row.step + " " + row.cluster + ": " + row.detail);
    return found;
  }

  sim::World world{1};
  sim::SimRuntime& us = world.host("us");
  FakeTree tree;
  FakeLeadership leadership;
  ActLog log{us, nullptr, nullptr, leadership};
  bool open = true;
  FakeTarget* fake = nullptr;
  std::unique_ptr<DirectoryReconciler> reconciler;
};

TEST_F(DirectoryReconcilerTest, WhatItWritesIsInTheJournalBeforeAndAfter) {
  EXPECT_TRUE(pass());
  EXPECT_EQ(fake->rows_at_write, 1U);
  EXPECT_EQ(rows(), (std::vector<std::string>{
                        "intent reconcile k8s: writes what /m says, as the leader of release 0.0.0 "
                        "with token 7",
                        "result reconcile k8s: 1 objects: 1 changed; ConfigMap a changed"}));
  fake->nothing_differs = true;
  EXPECT_TRUE(pass());
  EXPECT_EQ(rows().size(), 2U) << "a pass that writes nothing is no news";
}

TEST_F(DirectoryReconcilerTest, WithoutAJournalNothingIsWritten) {
  open = false;
  EXPECT_FALSE(pass());
  EXPECT_EQ(fake->written, 0);
}

TEST_F(DirectoryReconcilerTest, APassThatIsBrokenOffHasAnEnd) {
  runtime::TaskGroup tasks(us.executor());
  const auto run = [](DirectoryReconciler* of) -> Task<void> {
    const Result<void> done = co_await of->pass({.gate = "k8s"});
    static_cast<void>(done);
  };
  const auto task = tasks.spawn("pass", run(reconciler.get()));
  world.run_for(500ms);
  tasks.cancel(task);
  world.run_for(1s);
  EXPECT_EQ(fake->written, 0);
  ASSERT_EQ(rows().size(), 2U);
  EXPECT_EQ(rows().back(),
            "dropped reconcile k8s: the pass was broken off: this node may not write any more");
}

TEST_F(DirectoryReconcilerTest, WhoListensHearsOfADriftAfterAGoodPassOnly) {
  int disturbed = 0;
  reconciler->listen([&] { ++disturbed; });
  open = false;
  EXPECT_FALSE(pass());
  EXPECT_FALSE(fake->drifted_);
  open = true;
  EXPECT_TRUE(pass());
  ASSERT_TRUE(fake->drifted_);
  fake->drifted_();
  EXPECT_EQ(disturbed, 1);
}

}  // namespace
}  // namespace wardmote::act::reconcile
