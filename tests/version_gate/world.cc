#include "version_gate/world.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "base/format.h"

namespace wardmote::version_gate {
namespace {

constexpr int kReleases = 4;
constexpr Millis kTrouble = 40'000;
// The lease, the wait, passes, and the longest that a pass waits to be tried again meanwhile.
constexpr Millis kRecovery = 120'000;

}  // namespace

World::World(std::uint64_t seed) : random_(seed) {
  for (int number = 1; number <= kReleases; ++number) {
    const auto some = [&] {
      return Release{.major = 1 + static_cast<std::int64_t>(random_.below(number))};
    };
    products_.push_back({.release = {.major = number},
                         .min_reconciler_release = some(),
                         .min_apiserver_release = some(),
                         .content = fmt::format("c{}", number)});
  }
  nodes_.resize(3 + random_.below(3));
  objects_.resize(6);
  fence_checked_ = chance(40);
  constexpr std::array<std::uint64_t, 3> kPaces{600, 2000, 6000};
  pace_ = kPaces[random_.below(kPaces.size())];
  slow_ = chance(50) ? 10 : 50;
  behind_ = chance(15);
  // A write has a deadline of a second.
  write_takes_ = chance(50) ? 20 : 1000;
}

void World::at(Millis when, std::function<void()> run) {
  events_.push_back({.when = when, .order = order_++, .run = std::move(run)});
  std::ranges::push_heap(events_, later);
}

void World::local(int node, Millis delay, std::function<void()> run) {
  const int life = nodes_[node].life;
  at(now_ + delay, [this, node, life, run = std::move(run)]() mutable {
    Node& one = nodes_[node];
    if (!one.up || one.life != life) return;
    if (one.paused_until > now_) {
      local(node, one.paused_until - now_, std::move(run));
    } else {
      run();
    }
  });
}

Millis World::latency() {
  const auto below = [&](std::uint64_t limit) { return static_cast<Millis>(random_.below(limit)); };
  if (!chance(slow_)) return 1 + below(10);
  return chance(90) ? 10 + below(300) : 300 + below(900);
}

void World::run_until(Millis end, const std::function<bool()>& enough) {
  while (!wrong_ && !events_.empty() && events_.front().when <= end) {
    std::ranges::pop_heap(events_, later);
    const Event event = std::move(events_.back());
    events_.pop_back();
    now_ = event.when;
    event.run();
    if (enough && enough()) return;
  }
}

std::optional<std::string> World::play() {
  for (int node = 0; node < static_cast<int>(nodes_.size()); ++node) {
    if (chance(80)) boot(node, static_cast<int>(random_.below(kReleases)));
  }
  at(static_cast<Millis>(random_.below(20'000)), [this] { fault(); });
  run_until(kTrouble, {});
  heal();
  // Faults that ended late, and starts that are spread over 5 s.
  const Millis healed = now_ + 6000;
  run_until(healed, {});
  bool well = false;
  run_until(healed + kRecovery, [&] { return well = converged() || waits(); });
  if (!well) wrong("the gate does not open, and no leader says which nodes are in the way");
  return wrong_;
}

void World::tell(const std::string& what) {
  story_ += fmt::format("{:>4}.{:03} {}\n", now_ / 1000, now_ % 1000, what);
}

void World::wrong(const std::string& what) {
  if (wrong_) return;
  wrong_ = fmt::format("after {} ms {}", now_, what);
  tell(what);
}

}  // namespace wardmote::version_gate
