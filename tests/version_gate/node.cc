// What runs on a node, over the product's decisions.
#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "base/format.h"
#include "base/time.h"
#include "judge/version_gate/admission.h"
#include "judge/version_gate/entry.h"
#include "judge/version_gate/leader.h"
#include "version_gate/world.h"

namespace wardmote::version_gate {
namespace {

using judge::version_gate::Admission;
using judge::version_gate::admit;
using judge::version_gate::may_campaign;

constexpr Millis kRenewEvery = 1500;
constexpr Millis kWork = kLease * 2 / 3;
// Oftener than the product's, so that more writes are under way.
constexpr Duration kPassEvery = std::chrono::seconds(3);

TimePoint instant(Millis when) {
  return TimePoint(std::chrono::milliseconds(when));
}

/// What one look at the status brings.
struct Look {
  Stored stored;
  Revision claimed = 0;
  Revision revision = 0;
  bool queued = false;      ///< its own key is there
  bool registered = false;  ///< with its current release
};

struct Answered {
  bool held = false;
  Revision revision = 0;
};

}  // namespace

void World::tick(int node) {
  local(node, 20 + static_cast<Millis>(random_.below(250)), [this, node] { tick(node); });
  if (!nodes_[node].registered && now_ >= nodes_[node].enroll_at) enroll(node);
  watch(node);
  read(node);
  elect(node);
  lead(node);
}

void World::enroll(int node) {
  Node& one = nodes_[node];
  if (std::exchange(one.registering, true)) return;
  const Release release = one.own.release;
  call<Revision>(
      node,
      [this, node, release] {
        store_.put_registration(node, release, now_);
        return store_.revision();
      },
      [this, node](std::optional<Revision> revision) {
        nodes_[node].registering = false;
        if (revision) nodes_[node].registered = *revision;
      });
}

void World::watch(int node) {
  Node& one = nodes_[node];
  // Sometimes it falls behind.
  if (one.watching || chance(30)) return;
  one.watching = true;
  const bool anew = !one.facts.nodes.known() || chance(3);
  const std::size_t from = one.log_at;
  const std::size_t most = behind_ ? 1 + random_.below(8) : 1000;
  call<StoreModel::News>(
      node, [this, anew, from, most] { return anew ? store_.list() : store_.news(from, most); },
      [this, node](std::optional<StoreModel::News> news) {
        Node& one = nodes_[node];
        one.watching = false;
        if (!news) return;
        if (news->all) {
          one.facts.nodes.replace(std::move(*news->all), news->header);
        } else {
          one.facts.nodes.apply(news->changes, news->header);
        }
        one.log_at = news->upto;
      });
}

void World::read(int node) {
  Node& one = nodes_[node];
  if (std::exchange(one.reading, true)) return;
  const Revision token = one.token;
  const Release release = one.own.release;
  call<Look>(
      node,
      [this, node, token, release] {
        const auto found = store_.registrations().find(node);
        return Look{
            .stored = store_.status(),
            .claimed = store_.claimed(),
            .revision = store_.revision(),
            .queued = store_.has(token),
            .registered = found != store_.registrations().end() && found->second.release == release,
        };
      },
      [this, node, token](std::optional<Look> look) {
        Node& one = nodes_[node];
        one.reading = false;
        if (!look) return;
        one.facts.stored = look->stored;
        one.facts.claimed = look->claimed;
        one.facts.read_at = look->revision;
        if (token != 0 && token == one.token && !look->queued) lose(node);
        if (one.registered && look->revision >= *one.registered && !look->registered)
          one.registered.reset();
      });
}

/// After each answer: whether it may serve.
void World::learn(int node) {
  Node& one = nodes_[node];
  const Admission admission = admit(one.own, one.registered, one.facts.stored, one.facts.read_at);
  if (admission.ready()) {
    if (std::exchange(one.serves, true)) return;
    tell(fmt::format("{} serves", name_of(node)));
    check_serving(fmt::format("as {} begins", name_of(node)));
    return;
  }
  if (admission.verdict != Admission::Verdict::kUnregistered || !one.serves) return;
  // It lost its record: nobody waits for it any more, so it ends before it registers again.
  tell(fmt::format("{} no longer serves", name_of(node)));
  one.serves = false;
  one.forgotten = false;
}

void World::elect(int node) {
  Node& one = nodes_[node];
  if (one.electing) return;
  const Millis asked = now_;
  if (one.token == 0) {
    if (!may_campaign(one.facts.nodes, one.own.release)) return;
    one.electing = true;
    call<Revision>(
        node, [this, node] { return store_.campaign(node, now_); },
        [this, node, asked](std::optional<Revision> token) {
          Node& one = nodes_[node];
          one.electing = false;
          if (!token) return;
          one.token = *token;
          one.stop_at = asked + kWork;
          one.renew_at = asked + kRenewEvery;
        });
    return;
  }
  if (now_ >= one.stop_at) {
    lose(node);
    return;
  }
  if (!may_campaign(one.facts.nodes, one.own.release)) {
    resign(node);
    return;
  }
  if (now_ < one.renew_at && one.leads) return;
  one.electing = true;
  const Revision token = one.token;
  // Renews, and looks whose turn it is.
  call<Revision>(
      node, [this, token] { return store_.renew(token, now_) ? store_.newest() : 0; },
      [this, node, token, asked](std::optional<Revision> newest) {
        Node& one = nodes_[node];
        one.electing = false;
        if (!newest || one.token != token) return;
        if (*newest == 0) {
          lose(node);
          return;
        }
        one.stop_at = asked + kWork;
        one.renew_at = asked + kRenewEvery;
        if (*newest != token || one.leads) return;
        one.leads = true;
        one.leader.emplace(one.own, judge::version_gate::Timing{.pass_every = kPassEvery});
        tell(fmt::format("{} leads with token {}", name_of(node), token));
      });
}

void World::lose(int node) {
  Node& one = nodes_[node];
  if (one.leads) tell(fmt::format("{} no longer leads", name_of(node)));
  one.leads = false;
  one.leader.reset();
  one.blocked.reset();
  one.token = 0;
}

void World::resign(int node) {
  const Revision token = nodes_[node].token;
  lose(node);
  call<bool>(
      node, [this, token] { return store_.remove_candidate(token, now_); },
      [](std::optional<bool>) {});
}

void World::lead(int node) {
  Node& one = nodes_[node];
  if (!one.leads || now_ >= one.stop_at) return;
  one.blocked.reset();
  const Leader::Step step = one.leader->next(one.facts, instant(now_));
  if (std::holds_alternative<Leader::StandDown>(step)) {
    resign(node);
  } else if (const auto* blocked = std::get_if<Leader::Blocked>(&step)) {
    one.blocked = blocked->clearance;
  } else if (std::holds_alternative<Leader::Pass>(step)) {
    pass(node, 0);
  } else if (const auto* write = std::get_if<Write>(&step)) {
    const Revision token = one.token;
    fault_in_the_middle(node, write->nodes_unchanged_since.has_value());
    call<Answered>(
        node,
        [this, node, token, write = *write] {
          const bool held = store_.commit(token, write, now_);
          if (held) {
            const Stored& stored = store_.status();
            tell(fmt::format("{} commits, the status is {} {} {}", name_of(node),
                             static_cast<int>(stored.kind), to_string(stored.status.version),
                             to_string(stored.status.minimum)));
            check_commit(node, token, write);
          }
          return Answered{.held = held, .revision = store_.revision()};
        },
        [this, node, token](std::optional<Answered> answer) {
          Node& one = nodes_[node];
          if (one.token != token || !one.leader) return;
          if (answer) {
            one.leader->written(answer->held, answer->revision, instant(now_));
          } else {
            one.leader->unsure();
          }
        });
  }
  // Read: the next look comes with the next tick.
}

bool World::may_write(int node) const {
  const Node& one = nodes_[node];
  return one.leads && now_ < one.stop_at && one.leader->may_write(one.facts);
}

void World::end_pass(int node, bool whole) {
  Node& one = nodes_[node];
  if (whole) {
    one.leader->passed(instant(now_));
  } else {
    one.leader->failed(instant(now_), static_cast<double>(random_.below(1000)) / 1000);
  }
}

/// One object after the other; at first, where the target checks tokens, its own token.
void World::pass(int node, std::size_t object) {
  Node& one = nodes_[node];
  const Object wanted{.release = one.own.release,
                      .min_apiserver_release = one.own.min_apiserver_release,
                      .content = one.own.content};
  const std::size_t steps = objects_.size() + 1;
  while (object > 0 && object < steps && objects_[object - 1] == wanted) ++object;
  if (object == steps) {
    end_pass(node, true);
  } else if (!may_write(node)) {
    end_pass(node, false);
  } else if (fence_checked_) {
    // It may be paused between the check and the sending.
    local(node, static_cast<Millis>(random_.below(3)),
          [this, node, object] { send(node, object); });
  } else {
    send(node, object);
  }
}

void World::send(int node, std::size_t object) {
  Node& one = nodes_[node];
  if (!one.leader) return;
  const Revision token = one.token;
  const Product own = one.own;
  const bool late = !may_write(node);
  at(now_ + 1 + static_cast<Millis>(random_.below(write_takes_)),
     [this, node, object, token, own, late] {
       const bool stale = fence_checked_ && token < fence_;
       const bool done = !target_down_ && !stale;
       if (done && fence_checked_) fence_ = token;
       if (done && object > 0) {
         objects_[object - 1] = {.release = own.release,
                                 .min_apiserver_release = own.min_apiserver_release,
                                 .content = own.content};
         check_write(node, token, own, late);
         check_serving(fmt::format("as {} writes", name_of(node)));
       }
       local(node, 5, [this, node, object, token, done] {
         if (nodes_[node].token != token || !nodes_[node].leader) return;
         if (done) {
           pass(node, object + 1);
         } else {
           end_pass(node, false);
         }
       });
     });
}

}  // namespace wardmote::version_gate
