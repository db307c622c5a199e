#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "config/config.h"
#include "config/reload_plan.h"
#include "judge/observation.h"
#include "judge/thing.h"
#include "observe/probe.h"
#include "runtime/task.h"
#include "serve/route.h"
#include "store/shared_note.h"

namespace wardmote::agent {

/// What the agent does for one kind of things: raft clusters, BGP meshes, reporters. Whatever it
/// judges as a whole it shows on the board (serve/thing_view.h); a check stands for each such
/// thing, and gates and incidents know it by that. domains.cc lists them all.
/// Life cycle: adopt what was prepared before anything else, stop() before destruction. Thread: the
/// core loop.
class Domain {
 public:
  Domain() = default;
  Domain(const Domain&) = delete;
  Domain& operator=(const Domain&) = delete;
  virtual ~Domain() = default;

  /// Takes over what an earlier life wrote down, before anything is adopted.
  virtual runtime::Task<Result<void>> recall() { co_return Result<void>(); }

  /// Goes over to what was prepared; `now` is that configuration and `plan` leads to it. The board
  /// knows its checks already. Destroyed without being called it has changed nothing.
  using Adopt =
      std::move_only_function<void(const config::Config& now, const config::ReloadPlan& plan)>;
  /// Does what may fail, and changes nothing yet.
  virtual Result<Adopt> prepare(const config::Config& next) = 0;

  /// The kind of the checks that stand for its things.
  [[nodiscard]] virtual const observe::ProbeKind& kind() const noexcept = 0;
  /// The probe of such a check; null: the domain looks by itself, and tells the board.
  virtual std::unique_ptr<observe::Probe> probe(const config::Check&) { return nullptr; }
  /// Some check was looked at, of whatever kind.
  virtual void observed(const std::string&, const judge::Observation&) {}
  /// A plan wants to know how one of its things is now: it tells the plans. False: it is none of
  /// its kind, or the looks of its check tell them.
  virtual bool look_for_plan(const judge::ThingId&) { return false; }
  /// What it exchanges with the agents that share the store; null: nothing.
  virtual store::SharedNote* note() { return nullptr; }
  /// Added to the API once.
  virtual std::vector<serve::Route> routes() { return {}; }
  virtual runtime::Task<void> stop() { co_return; }
};

}  // namespace wardmote::agent
