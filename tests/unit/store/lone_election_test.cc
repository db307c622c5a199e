// One candidate, alone, at a store that fails it at a single point.
#include "store/election.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/task.h"
#include "sim/sim_database.h"
#include "sim/sim_runtime.h"
#include "sim/world.h"
#include "store/embedded_store.h"
#include "store/store.h"

namespace wardmote::store {
namespace {

using runtime::Task;
using sim::SimDatabase;
using sim::SimDisk;
using sim::SimRuntime;
using sim::World;
using namespace std::chrono_literals;

constexpr Duration kTtl = 6s;

/// A fake: a store of which single renewals get no answer. It keeps to deadlines, as etcd's client
/// does.
class ForgetfulStore final : public Store {
 public:
  ForgetfulStore(SimRuntime& host, Store& below) : host_(host), below_(below) {}

  int unanswered = 0;  ///< so many of the next renewals
  bool grants = true;
  bool reads = true;
  bool resumes = false;  ///< it was away, and nobody noticed
  int lists = 0;
  int lists_fail = 0;             ///< so many of the next
  int lost_answers = 0;           ///< so many of the next transactions are made, and nobody is told
  std::optional<Errc> news_fail;  ///< the next time that somebody asks for them
  std::vector<LeaseId> revoked;

  Task<Result<Found>> get(std::string key, runtime::Deadline deadline) override {
    if (!reads) co_return fail(Errc::kClosed, "no answer to a read");
    auto found = co_await below_.get(std::move(key), deadline);
    co_return found;
  }
  Task<Result<Snapshot>> list(KeyRange keys, runtime::Deadline deadline) override {
    ++lists;
    if (lists_fail > 0) {
      --lists_fail;
      co_return fail(Errc::kClosed, "no answer to a list");
    }
    auto found = co_await below_.list(std::move(keys), deadline);
    co_return found;
  }
  Task<Result<Committed>> put_if(Transaction transaction, runtime::Deadline deadline) override {
    auto done = co_await below_.put_if(std::move(transaction), deadline);
    if (lost_answers > 0) {
      --lost_answers;
      co_return fail(Errc::kClosed, "no answer to a write");
    }
    co_return done;
  }
  std::unique_ptr<Watch> watch(KeyRange keys, Revision from) override {
    return std::make_unique<ForgetfulWatch>(*this, below_.watch(std::move(keys), from));
  }
  Task<Result<Lease>> grant(Duration ttl, runtime::Deadline deadline) override {
    if (!grants) co_return fail(Errc::kClosed, "no lease");
    auto lease = co_await below_.grant(ttl, deadline);
    co_return lease;
  }
  Task<Result<Lease>> keep_alive(LeaseId lease, runtime::Deadline deadline) override {
    if (unanswered > 0) {
      --unanswered;
      co_await host_.sleep_until(deadline.at);
    }
    if (deadline.passed(host_.now())) co_return fail(Errc::kTimeout, "no answer");
    auto kept = co_await below_.keep_alive(lease, deadline);
    co_return kept;
  }
  Task<Result<void>> revoke(LeaseId lease, runtime::Deadline deadline) override {
    revoked.push_back(lease);
    const Result<void> done = co_await below_.revoke(lease, deadline);
    co_return done;
  }

 private:
  class ForgetfulWatch final : public Watch {
   public:
    ForgetfulWatch(ForgetfulStore& store, std::unique_ptr<Watch> below)
        : store_(store), below_(std::move(below)) {}
    [[nodiscard]] bool resumed() const noexcept override { return resumed_; }
    Task<Result<WatchBatch>> next(runtime::Deadline deadline) override {
      resumed_ |= std::exchange(store_.resumes, false);
      if (const auto failed = std::exchange(store_.news_fail, std::nullopt))
        co_return fail(*failed, "no news");
      auto batch = co_await below_->next(deadline);
      co_return batch;
    }

   private:
    ForgetfulStore& store_;
    std::unique_ptr<Watch> below_;
    bool resumed_ = false;
  };

  SimRuntime& host_;
  Store& below_;
};

/// One candidate, alone, at such a store.
class LoneElectionTest : public ::testing::Test {
 protected:
  LoneElectionTest() { EXPECT_TRUE(run_task(world, us, below.open())); }

  World world{1};
  SimDisk disk;
  SimRuntime& us = world.host("us");
  SimDatabase database{us, disk};
  EmbeddedStore below{us, database, "boot"};
  ForgetfulStore store{us, below};
};

TEST_F(LoneElectionTest, WhoGotNoLeaseGivesNoneBack) {
  store.grants = false;
  Election election(us, store, {.candidate = "us", .ttl = kTtl});
  election.start();
  world.run_for(20s);
  EXPECT_FALSE(election.leads());
  EXPECT_TRUE(store.revoked.empty());
  store.grants = true;
  world.run_for(20s);
  EXPECT_TRUE(election.leads());
  world.run(us, election.stop());
  EXPECT_EQ(store.revoked.size(), 1U);
}

// The store was away, and may have another history.
TEST_F(LoneElectionTest, AfterTheStoreWasAwayItLooksAnewAndKeepsItsLead) {
  Election election(us, store, {.candidate = "us", .ttl = kTtl});
  election.start();
  ASSERT_TRUE(world.run_until([&] { return election.leads(); }, 1s));
  const int lists = store.lists;
  store.resumes = true;
  world.run_for(kTtl);
  EXPECT_EQ(store.lists, lists + 1);
  store.resumes = true;
  store.lists_fail = 1;
  ASSERT_TRUE(world.run_until([&] { return election.complaint().has_value(); }, kTtl));
  world.run_for(kTtl);
  EXPECT_EQ(store.lists, lists + 3) << "until it has seen all";
  EXPECT_FALSE(election.complaint());
  EXPECT_TRUE(election.leads());
  EXPECT_TRUE(store.revoked.empty());
  world.run(us, election.stop());
}

TEST_F(LoneElectionTest, AKeyThatIsThereAlthoughNoAnswerCameIsItsOwn) {
  store.lost_answers = 1;
  Election election(us, store, {.candidate = "us", .ttl = kTtl});
  election.start();
  ASSERT_TRUE(world.run_until([&] { return election.leads(); }, 1s));
  EXPECT_TRUE(store.revoked.empty()) << "it did not queue again";
  world.run(us, election.stop());
}

TEST_F(LoneElectionTest, WhoCannotReadItsKeyDoesNotLeadAndSaysWhy) {
  store.reads = false;
  Election election(us, store, {.candidate = "us", .ttl = kTtl});
  election.start();
  for (int i = 0; i < 20; ++i) {
    world.run_for(1s);
    EXPECT_FALSE(election.leads());
    EXPECT_TRUE(election.complaint().value_or("").contains("no answer to a read")) << i;
  }
  store.reads = true;
  ASSERT_TRUE(world.run_until([&] { return election.leads(); }, 2s));
  EXPECT_FALSE(election.complaint());
  world.run(us, election.stop());
}

TEST_F(LoneElectionTest, ARenewalWithoutAnAnswerIsGivenUpInTimeForAnother) {
  Election election(us, store, {.candidate = "us", .ttl = kTtl});
  std::vector<bool> told;
  election.listen([&](bool leads) { told.push_back(leads); });
  election.start();
  world.run_for(5s);
  const std::string key = election.own_key();
  world.run_for(1min);
  EXPECT_EQ(told, std::vector<bool>{true});
  for (int i = 0; i < 10; ++i) {
    store.unanswered = 1;
    world.run_for(10s);
  }
  // It stops at two thirds of the lease, and goes on as soon as an answer comes: the lease held.
  EXPECT_TRUE(election.leads());
  EXPECT_EQ(election.own_key(), key);
  store.unanswered = 5;
  world.run_for(30s);
  EXPECT_TRUE(election.leads());
  EXPECT_NE(election.own_key(), key) << "so many in a row are the end of a lease";
  world.run(us, election.stop());
}

TEST_F(LoneElectionTest, WhoGetsNoNewsForAMomentDoesNotWaitForTheNextRenewal) {
  Election election(us, store, {.candidate = "us", .ttl = 10min});
  election.start();
  world.run_for(5s);
  std::size_t known = 1;
  for (const Errc error : {Errc::kClosed, Errc::kMissing}) {
    store.news_fail = error;
    // The first one is still waited for as before.
    for (int i = 0; i < 2; ++i) {
      Transaction stand;
      stand.changes.emplace_back(Put{"leader/ffff" + std::to_string(known), "somebody"});
      ASSERT_TRUE(run_task(world, us, below.put_if(std::move(stand), us.deadline_in(1min))));
      world.run_for(2s);
      EXPECT_EQ(election.candidates().size(), ++known);
    }
  }
  world.run(us, election.stop());
}

}  // namespace
}  // namespace wardmote::store
