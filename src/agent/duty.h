#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "agent/change_feed.h"
#include "agent/config/config.h"
#include "agent/ledger.h"
#include "agent/notifier.h"
#include "agent/wake_up.h"
#include "base/result.h"
#include "base/time.h"
#include "judge/change.h"
#include "judge/incident/book.h"
#include "judge/incident/incident.h"
#include "judge/notify/matcher.h"
#include "runtime/http.h"
#include "runtime/runtime.h"
#include "runtime/task.h"
#include "serve/incidents.h"
#include "serve/notify_desk.h"
#include "store/leadership.h"
#include "store/store.h"

namespace wardmote::agent {

/// Who is on duty: turns what the feed tells into incidents, tells of them in turn, has people
/// notified, and writes it all down where it outlives the agent, if there is a store. Life
/// cycle: open() before the feed tells anything, stop() before destruction; what it borrows
/// outlives it. Thread: the core loop.
class Duty final : public serve::IncidentDesk {
 public:
  /// `store` may be null. `node` is how the agent calls itself.
  Duty(runtime::Runtime& runtime, store::Store* store, store::Leadership& leadership,
       const config::Config& config, std::string node, ChangeFeed& feed, NotifierOptions receivers);

  /// Reads what earlier lives wrote down.
  runtime::Task<Result<void>> open();
  runtime::Task<void> stop();

  /// Takes a change in; the incident that it belongs to, 0 for none.
  std::int64_t hear(const judge::Change& change);

  /// The configuration is another now; what `gone` owned is no more.
  void reload(const std::vector<std::string>& gone);
  /// Who is told, and how, is another now.
  void reload(NotifierOptions receivers) { notifier_.reload(std::move(receivers)); }

  [[nodiscard]] const judge::incident::Book& book() const noexcept override { return book_; }
  Result<void> acknowledge(std::int64_t id, std::string by, std::string comment) override;
  std::shared_ptr<runtime::HttpHold> written() override { return ledger_.hold(); }
  [[nodiscard]] serve::NotifyDesk& notifier() noexcept { return notifier_; }

 private:
  void take(const judge::incident::Steps& steps);
  void tell(const judge::incident::Step& step);
  void schedule();

  runtime::Runtime& runtime_;
  store::Leadership& leadership_;
  const config::Config& config_;
  std::string node_;
  ChangeFeed& feed_;
  judge::incident::Book book_;
  Ledger ledger_;
  Notifier notifier_;
  WakeUp wake_up_;
};

/// What an incident is routed and silenced by: `code`, `severity`, `root`, `scope` (what kind of
/// thing the root is), `subject` (its name), `cluster` where it belongs to one, `node`, and the
/// node's own labels.
judge::notify::Labels incident_labels(const judge::incident::Incident& incident,
                                      const config::Node& node, const std::string& node_name);

}  // namespace wardmote::agent
