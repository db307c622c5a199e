#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"
#include "config/config.h"
#include "config/reload_plan.h"
#include "incidents/change_feed.h"
#include "judge/change.h"
#include "judge/condition/condition.h"
#include "judge/gate.h"
#include "judge/observation.h"
#include "judge/outcome.h"
#include "judge/thing.h"
#include "serve/thing_view.h"
#include "serve/view.h"

namespace wardmote::agent {

/// What all watchers report to: feeds the check machines and gates, keeps the view that is served,
/// counts, and tells the feed what changed. Time is a parameter. Life cycle: one for
/// the agent; outlives whoever reports. Thread: the core loop.
class Board {
 public:
  /// Checks have the indexes that they have in `config`, which need not outlive the board; `feed`
  /// does.
  Board(const config::Config& config, std::string node, incidents::ChangeFeed& feed, TimePoint now);

  /// Goes over to another configuration by `plan`, which leads to `config`. What is kept or retimed
  /// keeps its state and counters; gates that stay tell only of changes.
  void reload(const config::Config& config, std::string node, const config::ReloadPlan& plan,
              TimePoint now);

  /// Check `check` was looked at.
  void check_observed(std::size_t check, const judge::Observation& seen, TimePoint now);
  /// What a check saw is not known to be good while something critical shows, unless it was good
  /// before: `seen` says so then. Whether it does: whoever shows a verdict of it shows unknown.
  bool doubt(judge::Observation& seen, std::span<const judge::Observed> signs) const;
  /// A thing was judged: it is shown from now on, and what of its findings is new or over is told.
  /// One that was not shown before is passed over.
  void judged(const std::shared_ptr<const serve::ThingView>& thing, TimePoint now);
  /// Things of this family may come. It outlives the board.
  void add(const serve::Family& family) { view_.families.push_back(&family); }
  /// Shows the things of one kind as they are, and no others of that kind; tells nothing.
  void show(judge::ThingKind kind, std::vector<std::shared_ptr<const serve::ThingView>> things);
  /// A heartbeat ran `lateness` late; `complaint` is why the agent is degraded, if it is.
  void heart_beat(Duration lateness, std::optional<std::string> complaint);
  /// How a reported check fails that the last look saw failing, which may be for another reason
  /// than at first; nothing: it was not seen so.
  [[nodiscard]] std::optional<judge::CheckChanged> failing(std::size_t check) const;
  /// After a reload, once the incidents know the configuration: tells again how those checks stand
  /// that became optional, or are not any more.
  void tell_reweighed(TimePoint now);
  /// An earlier life of the agent knew that this check is reported since then; nothing is told.
  /// Before the first look.
  void restore_reported(std::string_view name, judge::Reason reason, bool seen_good,
                        TimePoint since, TimePoint now);
  /// An earlier life knew that this check was good once, and was blind at its end. After
  /// restore_reported().
  void restore_seen_good(std::string_view name, bool blind);
  /// What is wrong, as of now.
  void set_incidents(const serve::OpenIncidents& incidents) noexcept {
    view_.incidents = incidents;
  }
  /// A piece of bad news was void because the agent was starved.
  void voided() noexcept { ++view_.self.voided; }

  /// Which configuration runs, and what became of the last reload.
  void set_config(serve::ConfigView config) { view_.config = std::move(config); }
  /// How the scheduler fares.
  void set_put_aside(std::string path) { view_.self.put_aside = std::move(path); }
  void set_look_lateness(const serve::SelfView::LookLateness& lateness) noexcept {
    view_.self.look_lateness = lateness;
  }
  /// Of some checks from the position `first` on. Where to go on; 0: that was the last.
  std::size_t set_missed(std::size_t first,
                         const std::function<std::uint64_t(const std::string& name)>& missed);

  /// The id under which the event stream knows the last change.
  void set_last_event(std::string id) { view_.last_event = std::move(id); }

  /// The view as of `now`.
  [[nodiscard]] const serve::AgentView& view(TimePoint now, WallTime wall_now);

 private:
  /// What is behind the gate of the same index in the view.
  struct Gate {
    judge::GateRule rule;
    judge::GateTally tally;
    bool failing_stale = false;  ///< those that fail, in the view
  };
  /// What one check means to one gate.
  struct Share {
    std::uint32_t check;
    std::uint32_t gate;
    bool among_all;
    std::uint32_t weight;  ///< 0: not among `at_least`
  };

  void feed(std::size_t index, judge::Outcome outcome, judge::Reason reason, TimePoint now);
  void tell_findings_again(const serve::CheckView& check, TimePoint now);
  void set_gates(const std::vector<config::Gate>& gates);
  void set_public(const std::optional<config::PublicPage>& page);
  void add_shares(std::size_t gate);
  [[nodiscard]] judge::GateStanding standing(std::size_t check) const;
  void standing_changed(std::size_t check, judge::GateStanding before);
  void tell_gate(std::size_t gate);
  void find_failing(std::size_t gate);

  incidents::ChangeFeed& feed_;
  serve::AgentView view_;
  std::vector<Gate> gates_;
  std::vector<Share> shares_;           // sorted by check
  std::vector<std::size_t> reweighed_;  // checks whose `optional` the last reload has changed
};

}  // namespace wardmote::agent
