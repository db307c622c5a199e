#include "act/reconcile/set_reconciler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "act/act_log.h"
#include "act/gate/reconciler.h"
#include "act/reconcile/options.h"
#include "act/reconcile/source.h"
#include "act/reconcile/target.h"
#include "base/result.h"
#include "judge/journal_entry.h"
#include "judge/reconcile/adoption.h"
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
    if (foreign) {
      const bool ordered =
          judge::reconcile::is_adopted(terms.adopt, foreign->first, foreign->second);
      asked = terms.adopt;
      report.touched.push_back({.object = foreign->first,
                                .action = ordered && takes
                                              ? judge::reconcile::ObjectReport::Action::kChanged
                                              : judge::reconcile::ObjectReport::Action::kFailed,
                                .why = "it was not created by this set"});
      if (!ordered)
        report.touched.back().foreign = judge::reconcile::ForeignObject{.uid = foreign->second};
    }
    if (terms.dry || nothing_differs) co_return report;
    const Result<void> announced = co_await terms.announce();
    if (!announced) {
      report.faults.push_back(announced.error().describe());
      co_return report;
    }
    rows_at_write = rows();
    terms.advanced(3, 10);
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
  std::optional<std::pair<std::string, std::string>> foreign;  ///< and its uid
  bool takes = true;  ///< an order to take it over succeeds
  judge::reconcile::Adoptions asked;
  int written = 0;
  std::function<void()> drifted_;

 private:
  sim::SimRuntime& us_;
};

class SetReconcilerTest : public ::testing::Test {
 protected:
  SetReconcilerTest() {
    auto target = std::make_unique<FakeTarget>(us);
    fake = target.get();
    fake->rows = [this] { return log.journal().recent().size(); };
    reconciler = std::make_unique<SetReconciler>(
        us, make_source(us, tree, nullptr, FolderOptions{"/m"}), std::move(target),
        SetOptions{.timeout = 1min, .gate = "k8s", .node = "ctl-1", .journal = [this] {
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
  std::unique_ptr<SetReconciler> reconciler;
};

TEST_F(SetReconcilerTest, WhatItWritesIsInTheJournalBeforeAndAfter) {
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

TEST_F(SetReconcilerTest, WithoutAJournalNothingIsWritten) {
  open = false;
  EXPECT_FALSE(pass());
  EXPECT_EQ(fake->written, 0);
}

TEST_F(SetReconcilerTest, APassThatIsBrokenOffHasAnEnd) {
  runtime::TaskGroup tasks(us.executor());
  const auto run = [](SetReconciler* of) -> Task<void> {
    const Result<void> done = co_await of->pass({.gate = "k8s"});
    static_cast<void>(done);
  };
  EXPECT_FALSE(reconciler->progress());
  const auto task = tasks.spawn("pass", run(reconciler.get()));
  world.run_for(500ms);
  ASSERT_TRUE(reconciler->progress());
  EXPECT_EQ(reconciler->progress()->treated, 3U);
  EXPECT_EQ(reconciler->progress()->objects, 10U);
  tasks.cancel(task);
  world.run_for(1s);
  EXPECT_FALSE(reconciler->progress()) << "it is under way no more";
  EXPECT_EQ(fake->written, 0);
  ASSERT_EQ(rows().size(), 2U);
  EXPECT_EQ(rows().back(),
            "dropped reconcile k8s: the pass was broken off: this node may not write any more");
  ASSERT_TRUE(reconciler->last())
      << "who asks what came of the last pass is told of no earlier one";
  EXPECT_EQ(reconciler->last()->faults,
            std::vector<std::string>{"the pass was broken off, when 3 of 10 objects were treated"});
  EXPECT_FALSE(reconciler->last()->good());
}

TEST_F(SetReconcilerTest, WhatAKilledAgentAnnouncedEndsInItsNextLife) {
  const auto note = [&](std::string kind, std::string step, std::string subject,
                        std::string gate = "k8s") {
    judge::JournalEntry row;
    row.kind = std::move(kind);
    row.step = std::move(step);
    row.cluster = std::move(gate);
    row.subject = std::move(subject);
    EXPECT_TRUE(run_task(world, us, log.append(std::move(row), {})).done);
  };
  note("intent", "reconcile", "ctl-1");
  note("result", "reconcile", "ctl-1");
  note("intent", "reconcile", "ctl-1");
  note("intent", "adopt", "ConfigMap a");
  note("intent", "reconcile", "ctl-1", "another");
  note("intent", "pause", "");
  fake->nothing_differs = true;
  EXPECT_TRUE(pass());
  const std::string killed =
      "the agent was killed before the end; nobody knows how much of it was done";
  ASSERT_EQ(rows().size(), 8U);
  EXPECT_EQ(rows().at(6), "dropped adopt k8s: " + killed);
  EXPECT_EQ(rows().at(7), "dropped reconcile k8s: " + killed);
  EXPECT_TRUE(pass());
  EXPECT_EQ(rows().size(), 8U) << "once";
}

TEST_F(SetReconcilerTest, WhoListensHearsOfADriftAfterAGoodPassOnly) {
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

class AdoptTest : public SetReconcilerTest {
 protected:
  AdoptTest() {
    fake->nothing_differs = true;
    fake->foreign.emplace("ConfigMap default/a", "uid-1");
  }
  std::optional<std::string> order(const std::string& words = "ConfigMap a") {
    const auto written = reconciler->adopt(words, "ann");
    if (!written) return written.error().context;
    return run_task(world, us, (*written)->wait());
  }
};

TEST_F(AdoptTest, TheNextPassTakesItOverAndBothAreJournaled) {
  EXPECT_FALSE(pass());
  int disturbed = 0;
  reconciler->listen([&] { ++disturbed; });
  EXPECT_EQ(order(), std::nullopt);
  EXPECT_EQ(disturbed, 1) << "the next pass comes soon";
  EXPECT_EQ(order(), "it is ordered already; the next pass takes it over");
  EXPECT_EQ(rows(), (std::vector<std::string>{"intent adopt k8s: the next pass takes it over, if "
                                              "it still is the one with uid uid-1"}));
  EXPECT_EQ(log.journal().recent().back().actor, "ann");
  EXPECT_EQ(log.journal().recent().back().subject, "ConfigMap default/a");
  EXPECT_TRUE(pass());
  EXPECT_EQ(fake->asked, (judge::reconcile::Adoptions{{"ConfigMap default/a", "uid-1"}}));
  ASSERT_EQ(rows().size(), 2U);
  EXPECT_EQ(rows().back(), "result adopt k8s: it belongs to the set now");
  EXPECT_FALSE(pass());
  EXPECT_TRUE(fake->asked.empty()) << "an order is for one pass";
}

TEST_F(AdoptTest, WhatWasNotTakenOverIsSaid) {
  EXPECT_FALSE(pass());
  EXPECT_EQ(order(), std::nullopt);
  fake->takes = false;
  EXPECT_FALSE(pass());
  EXPECT_EQ(rows().back(), "dropped adopt k8s: it was not created by this set");
}

TEST_F(AdoptTest, AnOrderNeedsAPassAndAJournal) {
  EXPECT_EQ(order(), "this node has made no pass yet");
  world.run(us, reconciler->look());
  EXPECT_EQ(order(), "this node has made no pass yet") << "it only looked";
  EXPECT_FALSE(pass());
  EXPECT_TRUE(order("ConfigMap b")->starts_with("no object 'ConfigMap b'"));
  open = false;
  EXPECT_EQ(order(), "the journal is not open yet");
  open = true;
  EXPECT_FALSE(pass());
  EXPECT_TRUE(fake->asked.empty()) << "what is not in the journal is not done";
}

TEST_F(AdoptTest, AnOrderToAnEarlierLeadIsDropped) {
  EXPECT_FALSE(pass());
  EXPECT_EQ(order(), std::nullopt);
  const Result<void> later = run_task(world, us, reconciler->pass({.gate = "k8s", .token = 8}));
  EXPECT_FALSE(later);
  world.run_for(1s);
  EXPECT_TRUE(fake->asked.empty());
  EXPECT_EQ(rows().back(), "dropped adopt k8s: this node has led anew since; order it again");
}

TEST_F(AdoptTest, TwoWhoOrderTheSameAtOnceGiveOneOrder) {
  EXPECT_FALSE(pass());
  const auto first = reconciler->adopt("ConfigMap a", "ann");
  const auto second = reconciler->adopt("ConfigMap a", "bob");
  EXPECT_TRUE(first);
  EXPECT_EQ(second.error().code, Errc::kRejected);
  world.run_for(1s);
  EXPECT_EQ(std::ranges::count_if(
                rows(), [](const std::string& row) { return row.starts_with("intent adopt"); }),
            1);
  EXPECT_EQ(reconciler->adopt("ConfigMap a", "bob").error().code, Errc::kRejected);
}

TEST_F(AdoptTest, AnOrderThatNoPassCameToIsDroppedAtTheEnd) {
  EXPECT_FALSE(pass());
  EXPECT_EQ(order(), std::nullopt);
  world.run(us, reconciler->stop());
  EXPECT_EQ(rows().back(), "dropped adopt k8s: the agent ended before");
}

}  // namespace
}  // namespace wardmote::act::reconcile
