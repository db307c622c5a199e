#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/time.h"
#include "judge/check_machine.h"
#include "judge/finding.h"
#include "judge/outcome.h"
#include "judge/thing.h"
#include "serve/metrics/measurement.h"
#include "serve/thing_view.h"

namespace wardmote::serve {

/// One check in its present state.
struct CheckView {
  std::string name;
  std::string kind;
  judge::CheckState state;
  judge::CheckPolicy policy;
  bool optional = false;
  judge::Reason reason;  ///< of the last observation
  TimePoint last_begun;
  TimePoint last_ended;
  std::uint64_t looks = 0;
  std::uint64_t missed =
      0;  ///< probes that were left out, because one still ran or the agent did not run
  Duration every{};
  /// What the last probe saw, in numbers; null: nothing that has any.
  std::shared_ptr<const Measurements> measured = nullptr;
};

/// A set of checks behind /livez, /readyz or a name of the operator's.
struct GateView {
  std::string name;
  bool ready = false;
  /// Positions in AgentView::checks, because a gate may have ten thousand.
  std::vector<std::uint32_t> failing;  ///< the checks that close it
  std::vector<std::uint32_t> checks;   ///< every check of the gate, each once
};

/// What everybody may see: names that were chosen for it.
struct PublicLine {
  std::string name;
  std::vector<std::uint32_t> checks;  ///< positions in AgentView::checks
};
struct PublicPage {
  std::string title;
  std::vector<PublicLine> lines;
};

/// The state of the agent itself.
struct SelfView {
  /// How late probes began.
  struct LookLateness {
    Duration median{};
    Duration p99{};
    Duration max{};
  };

  std::optional<std::string> complaint;  ///< why it is degraded
  Duration lateness{};                   ///< of its last heartbeat
  Duration worst_lateness{};             ///< since its start
  /// bad results that did not count because the agent got too little CPU
  std::uint64_t voided = 0;
  LookLateness look_lateness;
  std::string put_aside;  ///< the damaged database that was put aside at the start; empty: none
};

/// What is wrong, in two numbers.
struct OpenIncidents {
  std::size_t open = 0;
  std::optional<judge::Severity> gravest;  ///< the severity of the gravest
  friend bool operator==(const OpenIncidents&, const OpenIncidents&) = default;
};

/// The configuration in use, and the result of the last attempt to change it.
struct ConfigView {
  struct Refusal {
    TimePoint at;
    std::vector<std::string> problems;  ///< each with its place, safe to print
  };

  std::string path;   ///< empty: no file was read
  std::string hash;   ///< of what was read
  TimePoint applied;  ///< since when it runs
  std::uint64_t reloads_applied = 0;
  std::uint64_t reloads_unchanged = 0;  ///< reloads after which the files said the same as before
  std::uint64_t reloads_refused = 0;
  std::optional<Refusal> refused;  ///< set while the files contain an invalid configuration
  std::vector<std::string> restart_needed;  ///< changed keys that take effect at the next start
};

/// Everything that serve shows. The agent owns and updates it; both run on the core loop.
struct AgentView {
  std::string node;
  TimePoint now;
  WallTime wall_now;
  TimePoint started;
  std::string last_event;  ///< id of the last change that this view includes (event_stream.h)
  SelfView self;
  ConfigView config;
  OpenIncidents incidents;
  /// What kinds of things there may be, in the order in which they are shown. They outlive it.
  std::vector<const Family*> families;
  /// In the order of the configuration, family by family.
  std::vector<std::shared_ptr<const ThingView>> things;
  std::vector<CheckView> checks;
  std::vector<GateView> gates;
  std::optional<PublicPage> shown_publicly;  ///< nothing: there is no public page

  [[nodiscard]] Moment moment() const noexcept { return {now, wall_now}; }
};

/// How many things of this kind there are.
std::size_t count_of(const AgentView& agent, judge::ThingKind kind);
/// The thing of this name; null: there is none.
const ThingView* find_thing(const AgentView& agent, const judge::ThingId& id);

/// The names of the checks at these positions.
std::vector<std::string> names_of(const std::vector<CheckView>& checks,
                                  std::span<const std::uint32_t> positions);

}  // namespace wardmote::serve
