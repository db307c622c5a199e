// What must hold in every moment, by what the world knows and no node does.
#include <algorithm>
#include <optional>
#include <string>

#include "base/format.h"
#include "judge/version_gate/entry.h"
#include "version_gate/world.h"

namespace wardmote::version_gate {
namespace {

using judge::version_gate::Clearance;
using judge::version_gate::done;
using judge::version_gate::Status;

constexpr Millis kReconcileWait = 5000;
// Two thirds of the lease, the deadline of a write, and some looks.
constexpr Millis kUntilSeen = 10'000;

}  // namespace

/// I2: each node that serves works with each object, and the status keeps it in.
void World::check_serving(const std::string& when) {
  const Stored& stored = store_.status();
  for (int node = 0; node < static_cast<int>(nodes_.size()); ++node) {
    const Node& one = nodes_[node];
    if (!one.serves || one.forgotten) continue;
    for (const Object& object : objects_) {
      if (one.own.release >= object.min_apiserver_release &&
          object.release >= one.own.min_reconciler_release)
        continue;
      wrong(fmt::format("I2: {} of release {} serves on an object of release {} that needs {}, {}",
                        name_of(node), to_string(one.own.release), to_string(object.release),
                        to_string(object.min_apiserver_release), when));
    }
    if (stored.kind != Stored::Kind::kReadable) continue;
    if (one.own.release < stored.status.minimum ||
        stored.status.version < one.own.min_reconciler_release)
      wrong(fmt::format("I2: {} of release {} serves, and the status keeps it out, {}",
                        name_of(node), to_string(one.own.release), when));
  }
}

/// I1, and: nothing old is written over something newer. `late`: the sender was paused between its
/// last check and the sending, which only a target that checks tokens can refuse.
void World::check_write(int node, Revision token, const Product& own, bool late) {
  if (token < last_token_)
    wrong(fmt::format("I1: {} writes with token {} after a write with {}", name_of(node), token,
                      last_token_));
  last_token_ = std::max(last_token_, token);
  if (late) return;
  const std::optional<Millis> ended = store_.ended(token);
  if (ended && now_ > *ended + kReconcileWait)
    wrong(fmt::format("I1: {} writes {} ms after its leadership", name_of(node), now_ - *ended));
  for (const auto& [other, registration] : store_.registrations()) {
    // A leader whose watch is far behind learns it late: it delays the newer node, and harms
    // nobody.
    if (!behind_ && registration.release > own.release && now_ > registration.since + kUntilSeen)
      wrong(fmt::format("{} of release {} writes though {} is newer", name_of(node),
                        to_string(own.release), name_of(other)));
  }
}

/// I3.
void World::check_commit(int node, Revision token, const Write& write) {
  if (token != store_.newest())
    wrong(fmt::format("I3: {} writes the status with token {}, and {} leads", name_of(node), token,
                      store_.newest()));
  if (write.status) check_serving(fmt::format("as {} writes the status", name_of(node)));
}

Product World::highest() const {
  return std::ranges::max_element(nodes_, {}, [](const Node& one) { return one.own.release; })->own;
}

/// The newest release leads and has written all, and each node serves that can.
bool World::converged() const {
  const Product leader = highest();
  const Stored& stored = store_.status();
  if (stored.kind != Stored::Kind::kReadable || stored.status != done(leader)) return false;
  const Object expected{.release = leader.release,
                        .min_apiserver_release = leader.min_apiserver_release,
                        .content = leader.content};
  return std::ranges::all_of(objects_, [&](const Object& one) { return one == expected; }) &&
         std::ranges::all_of(nodes_, [&](const Node& one) {
           return one.serves == (one.own.release >= leader.min_apiserver_release);
         });
}

/// A leader of the newest release waits for nodes that are too old, and names them all.
bool World::waits() const {
  const Product leader = highest();
  Clearance expected{.verdict = Clearance::Verdict::kOlder};
  for (int node = 0; node < static_cast<int>(nodes_.size()); ++node) {
    if (nodes_[node].own.release < leader.min_apiserver_release)
      expected.nodes.push_back({.node = name_of(node), .release = nodes_[node].own.release});
  }
  return !expected.nodes.empty() && std::ranges::any_of(nodes_, [&](const Node& one) {
    return one.leads && one.own.release == leader.release && one.blocked == expected;
  });
}

}  // namespace wardmote::version_gate
