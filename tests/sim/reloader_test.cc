#include "agent/reloader.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "sim/seeds.h"

namespace wardmote::agent {
namespace {

using sim::SimRuntime;
using sim::World;
using namespace std::chrono_literals;

constexpr const char* kPath = "/etc/wardmote/wardmote.yaml";
const config::Origin kOrigin{kPath, {}};
constexpr const char* kOne =
    "api: {socket: /run/api.sock}\nchecks: [{name: a, tcp: {address: 127.0.0.1:1}}]\n";
constexpr const char* kTwo =
    "api: {socket: /run/api.sock}\nchecks: [{name: a, tcp: {address: 127.0.0.1:1}}, "
    "{name: b, tcp: {address: 127.0.0.1:2}}]\n";

/// Files in memory, since those of the simulated host do not exist.
class FakeFiles final : public config::Files {
 public:
  void write(const std::string& path, std::string bytes) {
    files_[path] = {std::move(bytes), ++changes_};
  }
  void remove(const std::string& path) { files_.erase(path); }
  [[nodiscard]] int reads() const { return reads_; }

  Result<std::string> read(const std::string& path, std::size_t /*cap*/) override {
    ++reads_;
    const auto found = files_.find(path);
    if (found == files_.end()) return fail(Errc::kMissing, "no such file");
    return found->second.bytes;
  }
  Result<void> replace(const std::string& path, std::string_view bytes) override {
    write(path, std::string(bytes));
    return {};
  }
  Result<std::vector<std::string>> list(const std::string& folder) override {
    return fail(Errc::kMissing, "no folder {}", folder);
  }
  std::optional<config::FileStamp> stamp(const std::string& path) override {
    const auto found = files_.find(path);
    if (found == files_.end()) return std::nullopt;
    return config::FileStamp{
        .inode = static_cast<std::uint64_t>(std::distance(files_.begin(), found)),
        .size = found->second.bytes.size(),
        .changed_ns = found->second.changed};
  }

 private:
  struct File {
    std::string bytes;
    std::int64_t changed;
  };
  std::map<std::string, File> files_;
  std::int64_t changes_ = 0;
  int reads_ = 0;
};

class Bench {
 public:
  explicit Bench(World& world) : sim(world) {
    files.write(kPath, kOne);
    config::Loaded loaded = config::load_config(files, kOrigin, observe::probe_kinds(), us);
    agent = std::make_unique<Agent>(us, no_service, *loaded.config, "ctl");
    EXPECT_TRUE(agent->start());
    reloader = std::make_unique<Reloader>(
        us, files, *agent, kOrigin, loaded,
        [this](std::function<void()> work) { return take_a_moment(&us, std::move(work)); });
    reloader->start();
  }
  ~Bench() {
    sim.run(us, reloader->stop());
    sim.run(us, agent->stop());
  }
  /// The work is done first, and the reloader hears of it later.
  static runtime::Task<void> take_a_moment(SimRuntime* host, std::function<void()> work) {
    work();
    co_await host->sleep_until(host->now() + 100ms);
  }
  Reloader::Outcome reload() { return run_task(sim, us, reloader->reload("order")); }
  [[nodiscard]] std::size_t checks() const { return agent->fresh_view().checks.size(); }
  [[nodiscard]] const serve::ConfigView& shown() const { return agent->fresh_view().config; }

  World& sim;
  SimRuntime& us = sim.host("us");
  FakeFiles files;
  const ServiceManager no_service{"", std::nullopt};
  std::unique_ptr<Agent> agent;
  std::unique_ptr<Reloader> reloader;
};

SIM_TEST_SEEDS(Reloader, AChangedFileIsAppliedWithinSeconds, 5) {
  Bench bench(sim);
  sim.run_for(10s + Duration(sim.random().below(1'000'000'000)));
  EXPECT_EQ(bench.files.reads(), 1) << "a file that does not change is not read";
  const std::string before = bench.shown().hash;
  bench.files.write(kPath, kTwo);
  sim.run_for(2 * Reloader::kLookEvery + 10ms);
  EXPECT_EQ(bench.checks(), 2U);
  EXPECT_NE(bench.shown().hash, before);
  EXPECT_EQ(bench.shown().reloads_applied, 1U);
  EXPECT_FALSE(bench.shown().refused);
}

SIM_TEST_SEEDS(Reloader, AFileThatIsStillBeingWrittenIsLeftAlone, 5) {
  Bench bench(sim);
  const std::string whole = kTwo;
  for (std::size_t size = 0; size < whole.size(); size += 10) {
    bench.files.write(kPath, whole.substr(0, size));
    sim.run_for(500ms);
    ASSERT_FALSE(bench.shown().refused);
    ASSERT_EQ(bench.checks(), 1U);
  }
  bench.files.write(kPath, whole);
  sim.run_for(3s);
  EXPECT_EQ(bench.checks(), 2U);
}

SIM_TEST_SEEDS(Reloader, ABadFileIsRefusedWholeAndShownUntilItIsMended, 5) {
  Bench bench(sim);
  const std::string hash = bench.shown().hash;
  bench.files.write(kPath, std::string(kTwo) + "chekcs: []\nnode: {nmae: x}\n");
  sim.run_for(5s);
  EXPECT_EQ(bench.checks(), 1U) << "not even the part that is good";
  ASSERT_TRUE(bench.shown().refused);
  EXPECT_EQ(bench.shown().refused->problems.size(), 2U) << "all of them at once";
  EXPECT_TRUE(bench.shown().refused->problems[0].starts_with(std::string(kPath) + ":3:1: "));
  EXPECT_EQ(bench.reloader->problems(), bench.shown().refused->problems);
  EXPECT_EQ(bench.shown().hash, hash) << "the one that runs";
  EXPECT_EQ(bench.shown().reloads_refused, 1U) << "once, not every second";

  bench.files.write(kPath, kOne);
  sim.run_for(5s);
  EXPECT_FALSE(bench.shown().refused);
  EXPECT_EQ(bench.shown().reloads_applied, 0U) << "it is what runs already";
  EXPECT_EQ(bench.shown().reloads_unchanged, 1U);
}

SIM_TEST_SEEDS(Reloader, AFileThatIsGoneEndsNothing, 5) {
  Bench bench(sim);
  bench.files.remove(kPath);
  sim.run_for(5s);
  EXPECT_EQ(bench.checks(), 1U);
  EXPECT_TRUE(bench.shown().refused);
  bench.files.write(kPath, kTwo);
  sim.run_for(3s);
  EXPECT_EQ(bench.checks(), 2U);
  EXPECT_FALSE(bench.shown().refused);
}

SIM_TEST_SEEDS(Reloader, WhoeverAsksNeedNotWait, 5) {
  Bench bench(sim);
  EXPECT_EQ(bench.reload(), Reloader::Outcome::kUnchanged);
  EXPECT_EQ(bench.checks(), 1U);
  bench.files.write(kPath, kTwo);
  EXPECT_EQ(bench.reload(), Reloader::Outcome::kApplied);
  EXPECT_EQ(bench.checks(), 2U);
  bench.files.write(kPath, "checks: []");
  EXPECT_EQ(bench.reload(), Reloader::Outcome::kRefused);
  EXPECT_EQ(bench.checks(), 2U);
  sim.run_for(10s);
  EXPECT_EQ(bench.shown().reloads_refused, 1U) << "what was read needs no second look";
}

SIM_TEST_SEEDS(Reloader, OrdersAreCarriedOutOneAfterTheOther, 5) {
  Bench bench(sim);
  std::vector<Reloader::Outcome> outcomes;
  const auto order = [](Reloader* reloader,
                        std::vector<Reloader::Outcome>* into) -> runtime::Task<void> {
    const Reloader::Outcome outcome = co_await reloader->reload("order");
    into->push_back(outcome);
  };
  bench.us.spawn("first", order(bench.reloader.get(), &outcomes));
  sim.run_for(50ms);  // the first has read the file by now
  bench.files.write(kPath, kTwo);
  bench.us.spawn("second", order(bench.reloader.get(), &outcomes));
  bench.us.spawn("third", order(bench.reloader.get(), &outcomes));
  sim.run_for(500ms);
  using enum Reloader::Outcome;
  EXPECT_EQ(outcomes, (std::vector{kUnchanged, kApplied, kUnchanged}));
  EXPECT_EQ(bench.checks(), 2U);
}

SIM_TEST_SEEDS(Reloader, EndsInTheMiddleOfReading, 5) {
  Bench bench(sim);
  bench.files.write(kPath, kTwo);
  // Whatever it does then, stop() ends it.
  sim.run_for(Reloader::kLookEvery + Duration(sim.random().below(1'500'000'000)));
}

}  // namespace
}  // namespace wardmote::agent
