#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "judge/version_gate/admission.h"
#include "judge/version_gate/entry.h"
#include "judge/version_gate/leader.h"
#include "judge/version_gate/status.h"
#include "runtime/random.h"
#include "version_gate/store_model.h"

namespace wardmote::version_gate {

using judge::version_gate::Facts;
using judge::version_gate::Leader;
using judge::version_gate::Product;

/// An object of the reconciled state, as whoever wrote it last has left it.
struct Object {
  Release release;
  Release min_apiserver_release;
  std::string content;
  friend bool operator==(const Object&, const Object&) = default;
};

/// A node and the process on it.
struct Node {
  bool up = false;
  int life = 0;  ///< counts the starts; what an earlier life has begun is not heard of
  Millis paused_until = 0;
  Millis cut_until = 0;  ///< from the store
  Product own;

  Facts facts;
  std::size_t log_at = 0;
  bool watching = false;  ///< a look is under way
  bool reading = false;
  bool registering = false;
  Millis enroll_at = 0;  ///< it registers no earlier
  std::optional<Revision> registered;
  bool serves = false;
  bool forgotten = false;  ///< its registration was removed while it ran

  Revision token = 0;  ///< of its key in the election
  bool electing = false;
  Millis renew_at = 0;
  Millis stop_at = 0;  ///< two thirds of the lease
  bool leads = false;
  std::optional<Leader> leader;
  std::optional<judge::version_gate::Clearance> blocked;
};

/// Nodes of several releases which come and go, a store, and the objects of the reconciled state.
/// Faults come at random moments. The decisions are the product's; the election and the store are
/// models. The world knows what is true: what each node works with, and what each object is.
class World {
 public:
  explicit World(std::uint64_t seed);

  /// What must never happen and did; nothing when all went well.
  std::optional<std::string> play();
  [[nodiscard]] const std::string& story() const noexcept { return story_; }

 private:
  // Time, and what travels (world.cc).
  void at(Millis when, std::function<void()> run);
  /// In this life of the node; later if it is paused then.
  void local(int node, Millis delay, std::function<void()> run);
  /// The store's answer, or nothing: nobody knows whether the request was made.
  template <class Answer>
  void call(int node, std::function<Answer()> request,
            std::function<void(std::optional<Answer>)> reply);
  Millis latency();
  void run_until(Millis end, const std::function<bool()>& enough);
  bool chance(unsigned percent) { return random_.below(100) < percent; }
  void tell(const std::string& what);
  void wrong(const std::string& what);

  // What is true (truth.cc).
  void check_serving(const std::string& when);
  void check_write(int node, Revision token, const Product& own, bool late);
  void check_commit(int node, Revision token, const Write& write);
  [[nodiscard]] bool converged() const;
  [[nodiscard]] bool waits() const;
  [[nodiscard]] Product highest() const;

  // Faults (faults.cc).
  void fault();
  void fault_of_store();
  void fault_in_the_middle(int leader, bool checked);
  void depose();
  void write_again_and_again(int node);
  void boot(int node, int release, Millis within = 300);
  void crash(int node);
  void heal();
  [[nodiscard]] int any() { return static_cast<int>(random_.below(nodes_.size())); }

  // The node (node.cc).
  void tick(int node);
  void watch(int node);
  void read(int node);
  void learn(int node);
  void enroll(int node);
  void elect(int node);
  void lose(int node);
  void resign(int node);
  void lead(int node);
  void pass(int node, std::size_t object);
  void send(int node, std::size_t object);
  void end_pass(int node, bool whole);
  [[nodiscard]] bool may_write(int node) const;

  struct Event {
    Millis when;
    std::uint64_t order;
    std::function<void()> run;
  };
  static bool later(const Event& a, const Event& b) {
    return std::pair(a.when, a.order) > std::pair(b.when, b.order);
  }

  runtime::Random random_;
  std::vector<Event> events_;
  std::uint64_t order_ = 0;
  Millis now_ = 0;
  StoreModel store_;
  std::vector<Product> products_;  ///< of each release
  std::vector<Node> nodes_;
  std::vector<Object> objects_;
  bool fence_checked_ = false;  ///< the target refuses tokens that are older than one it has seen
  Revision fence_ = 0;
  Revision last_token_ = 0;  ///< of the last write
  bool target_down_ = false;
  std::uint64_t pace_ = 0;         ///< faults come up to so many milliseconds apart
  unsigned slow_ = 0;              ///< of a hundred messages
  std::uint64_t write_takes_ = 0;  ///< up to so many milliseconds
  bool behind_ = false;            ///< watches are served in small pieces
  bool calm_ = false;
  std::string story_;
  std::optional<std::string> wrong_;
};

template <class Answer>
void World::call(int node, std::function<Answer()> request,
                 std::function<void(std::optional<Answer>)> reply) {
  constexpr Millis kTimeout = 1000;
  const auto answered = std::make_shared<bool>(false);
  const auto answer = [this, node, answered, reply](std::optional<Answer> got) {
    if (std::exchange(*answered, true)) return;
    reply(std::move(got));
    learn(node);
  };
  local(node, kTimeout, [answer] { answer(std::nullopt); });
  if (nodes_[node].cut_until > now_) return;
  const int life = nodes_[node].life;
  // What was sent arrives, also when its sender has died since.
  at(now_ + latency(), [this, node, life, request = std::move(request), answer] {
    store_.expire(now_);
    const Answer got = request();
    if (nodes_[node].cut_until > now_ || nodes_[node].life != life) return;
    local(node, latency(), [answer, got] { answer(got); });
  });
}

}  // namespace wardmote::version_gate
