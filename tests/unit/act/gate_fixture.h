#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "act/gate/gate_leader.h"
#include "act/gate/gate_node.h"
#include "act/gate/reconciler.h"
#include "act/gate/records.h"
#include "judge/version_gate/leader.h"
#include "judge/version_gate/release.h"
#include "judge/version_gate/status.h"
#include "sim/sim_database.h"
#include "sim/sim_runtime.h"
#include "sim/world.h"
#include "store/embedded_store.h"
#include "store/store.h"

namespace wardmote::act::gate {

using judge::version_gate::Product;
using judge::version_gate::Release;
using judge::version_gate::Status;
using runtime::Deadline;
using runtime::Task;

/// A store between which and us things go wrong.
class FaultyStore final : public store::Store {
 public:
  explicit FaultyStore(sim::SimRuntime& us, store::Store& inner) : us_(us), inner_(&inner) {}

  bool hangs = false;           ///< nothing is asked, and nothing answers
  bool hangs_progress = false;  ///< what the leader says of its work is not taken, nor refused
  int lost_answers = 0;         ///< so many transactions are made, and nobody is told
  Duration list_takes{};        ///< from when the store has read to when we hear of it
  std::string deaf{};           ///< watches of this prefix hear nothing
  /// Somebody else does this at the last moment before a claim.
  std::optional<store::StoreChange> before{};
  /// The same, before we read a key.
  std::optional<store::StoreChange> before_get{};

  /// It is restored from a copy, or made anew: from now on it has the history of `other`.
  void become(store::Store& other) { inner_ = &other; }
  /// It was away, and is there again, before anybody has asked. Whether it has another history
  /// nothing shows.
  void resume() { ++away_; }

  Task<Result<store::Found>> get(std::string key, Deadline deadline) override {
    if (hangs) co_return co_await silence<store::Found>(deadline);
    if (before_get) co_await do_other(*std::exchange(before_get, std::nullopt), deadline);
    co_return co_await inner_->get(std::move(key), deadline);
  }
  Task<Result<store::Snapshot>> list(store::KeyRange keys, Deadline deadline) override {
    if (hangs) co_return co_await silence<store::Snapshot>(deadline);
    Result<store::Snapshot> found = co_await inner_->list(std::move(keys), deadline);
    co_await us_.sleep_until(us_.now() + list_takes);
    co_return found;
  }
  Task<Result<store::Committed>> put_if(store::Transaction transaction,
                                        Deadline deadline) override {
    if (hangs) co_return co_await silence<store::Committed>(deadline);
    if (hangs_progress && puts(transaction, "/progress"))
      co_return co_await silence<store::Committed>(deadline);
    if (before && puts(transaction, "/claim"))
      co_await do_other(*std::exchange(before, std::nullopt), deadline);
    Result<store::Committed> made = co_await inner_->put_if(std::move(transaction), deadline);
    if (lost_answers == 0) co_return made;
    --lost_answers;
    co_return co_await silence<store::Committed>(deadline);
  }
  std::unique_ptr<store::Watch> watch(store::KeyRange keys, store::Revision from) override {
    std::string prefix = keys.begin;
    return std::make_unique<FaultyWatch>(*this, std::move(prefix), *inner_,
                                         inner_->watch(std::move(keys), from));
  }
  Task<Result<store::Lease>> grant(Duration ttl, Deadline deadline) override {
    if (hangs) co_return co_await silence<store::Lease>(deadline);
    co_return co_await inner_->grant(ttl, deadline);
  }
  Task<Result<store::Lease>> keep_alive(store::LeaseId lease, Deadline deadline) override {
    if (hangs) co_return co_await silence<store::Lease>(deadline);
    co_return co_await inner_->keep_alive(lease, deadline);
  }
  Task<Result<void>> revoke(store::LeaseId lease, Deadline deadline) override {
    if (!hangs) co_return co_await inner_->revoke(lease, deadline);
    co_await us_.sleep_until(deadline.at);
    co_return fail(Errc::kTimeout, "silence");
  }

 private:
  class FaultyWatch final : public store::Watch {
   public:
    FaultyWatch(FaultyStore& store, std::string prefix, const store::Store& of,
                std::unique_ptr<store::Watch> inner)
        : store_(store),
          prefix_(std::move(prefix)),
          of_(of),
          inner_(std::move(inner)),
          begun_(store.away_) {}
    [[nodiscard]] bool resumed() const noexcept override { return store_.away_ != begun_; }
    Task<Result<store::WatchBatch>> next(Deadline deadline) override {
      if (store_.deaf == prefix_) {
        co_await store_.us_.sleep_until(deadline.at);
        co_return fail(Errc::kTimeout, "nothing has changed");
      }
      if (store_.inner_ != &of_ && !resumed()) co_return fail(Errc::kMissing, "another history");
      if (!store_.hangs) co_return co_await inner_->next(deadline);
      co_await store_.us_.sleep_until(deadline.at);
      co_return fail(Errc::kClosed, "silence");
    }

   private:
    FaultyStore& store_;
    const std::string prefix_;
    const store::Store& of_;
    std::unique_ptr<store::Watch> inner_;
    const int begun_;
  };

  static bool puts(const store::Transaction& transaction, std::string_view key) {
    return std::ranges::any_of(transaction.changes, [key](const store::StoreChange& change) {
      const auto* const put = std::get_if<store::Put>(&change);
      return put != nullptr && put->key.ends_with(key);
    });
  }
  Task<void> do_other(store::StoreChange change, Deadline deadline) {
    store::Transaction other;
    other.changes.push_back(std::move(change));
    static_cast<void>(co_await inner_->put_if(std::move(other), deadline));
  }
  template <class T>
  Task<Result<T>> silence(Deadline deadline) {
    co_await us_.sleep_until(deadline.at);
    co_return fail(Errc::kTimeout, "silence");
  }

  sim::SimRuntime& us_;
  store::Store* inner_;
  int away_ = 0;  ///< counts the times
};

/// What nodes write, and whether somebody writes beside somebody else.
struct Objects {
  std::vector<std::string> written;  ///< `node 1.0.0`, one for each pass that ended
  int under_way = 0;
  int most_at_once = 0;
  Duration takes = std::chrono::milliseconds(500);
  bool fails = false;
  bool compares = false;  ///< a token lower than one it has seen is refused
  store::Revision newest = 0;
};

class FakeReconciler final : public Reconciler {
 public:
  FakeReconciler(sim::SimRuntime& us, Objects& objects) : us_(us), objects_(objects) {}

  Task<Result<void>> pass(PassOrder order) override {
    const Turn turn(objects_);
    tokens.push_back(order.token);
    write_until = order.write_until;
    if (!objects_.compares || order.token > objects_.newest) objects_.newest = order.token;
    co_await us_.sleep_until(us_.now() + objects_.takes);
    if (objects_.compares && order.token < objects_.newest)
      co_return fail(Errc::kRejected, "an old token");
    if (objects_.fails) co_return fail(Errc::kRejected, "apiserver: 503");
    objects_.written.push_back(order.node + " " + to_string(order.own.release));
    co_return Result<void>();
  }
  std::vector<store::Revision> tokens;
  std::function<std::optional<TimePoint>()> write_until;  ///< of the last order

 private:
  struct Turn {
    explicit Turn(Objects& of) : objects(of) {
      objects.most_at_once = std::max(objects.most_at_once, ++objects.under_way);
    }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    ~Turn() { --objects.under_way; }
    Objects& objects;
  };
  sim::SimRuntime& us_;
  Objects& objects_;
};

inline const Layout kLayout{.state = "gate/state/", .nodes = "gate/nodes/"};
constexpr Duration kTtl = std::chrono::seconds(6);

/// A node with its process, on a disk that is the common store.
class TestNode {
 public:
  TestNode(sim::World& world, sim::SimDisk& disk, Objects& objects, const std::string& name,
           Product own, bool reconciles = true, const std::string& process = {})
      : us(world.process(process.empty() ? name : process, "host")),
        world_(world),
        database_(us, disk),
        inner_(us, database_, "boot", {.history = 50, .look_every = std::chrono::milliseconds(50)}),
        store(us, inner_),
        node(us, store,
             {.gate = "g",
              .layout = kLayout,
              .self = {.node = name, .boot = process.empty() ? name : process},
              .own = std::move(own)}),
        reconciler(us, objects),
        leader(us, store, node, reconciler, {.timing = {}, .ttl = kTtl, .pause_key = "pause/"}),
        reconciles_(reconciles) {
    EXPECT_TRUE(run(inner_.open()));
    node.start();
    if (reconciles_) leader.start();
  }
  ~TestNode() {
    us.resume();
    store.hangs = false;
    stop();
  }
  TestNode(const TestNode&) = delete;
  TestNode& operator=(const TestNode&) = delete;

  void stop() {
    if (std::exchange(stopped_, true)) return;
    if (reconciles_) world_.run(us, leader.stop());
    world_.run(us, node.stop());
  }
  template <class T>
  T run(Task<T> task) {
    return run_task(world_, us, std::move(task));
  }
  [[nodiscard]] bool ready() const { return node.admission().ready(); }
  [[nodiscard]] const std::string& why() const { return node.admission().why; }

  sim::SimRuntime& us;

 private:
  sim::World& world_;
  sim::SimDatabase database_;
  store::EmbeddedStore inner_;

 public:
  FaultyStore store;
  GateNode node;
  FakeReconciler reconciler;
  GateLeader leader;

 private:
  bool reconciles_;
  bool stopped_ = false;
};

class GateTest : public ::testing::Test {
 protected:
  static Product product(std::int64_t major, std::int64_t needs_nodes = 0,
                         std::int64_t needs_objects = 0) {
    return {.release = {.major = major},
            .min_reconciler_release = {.major = needs_objects},
            .min_apiserver_release = {.major = needs_nodes}};
  }
  std::unique_ptr<TestNode> make(const std::string& name, Product own, bool reconciles = true,
                                 const std::string& process = {}) {
    return std::make_unique<TestNode>(world, disk, objects, name, std::move(own), reconciles,
                                      process);
  }
  bool until(const std::function<bool()>& condition, Duration limit = std::chrono::seconds(30)) {
    return world.run_until(condition, limit);
  }
  /// As somebody else writes.
  void write(store::StoreChange change) {
    store::Transaction one;
    one.changes.push_back(std::move(change));
    EXPECT_TRUE(
        run_task(world, outside,
                 store_.put_if(std::move(one), outside.deadline_in(std::chrono::minutes(1)))));
  }
  std::optional<store::KeyValue> read(const std::string& key) {
    return run_task(world, outside, store_.get(key, outside.deadline_in(std::chrono::minutes(1))))
        .value()
        .key;
  }
  Status status() { return read_status(read(kLayout.status())).status; }

  sim::World world{1};
  sim::SimDisk disk;
  Objects objects;
  sim::SimRuntime& outside = world.process("outside", "host");

 private:
  sim::SimDatabase database_{outside, disk};

 protected:
  store::EmbeddedStore store_{outside, database_, "boot"};
  GateTest() { EXPECT_TRUE(run_task(world, outside, store_.open())); }
};

}  // namespace wardmote::act::gate
