#pragma once
// From what the feed tells to what the incident book understands.

#include <optional>
#include <string>
#include <vector>

#include "agent/config/config.h"
#include "agent/reload_plan.h"
#include "base/time.h"
#include "judge/change.h"
#include "judge/incident/book.h"
#include "judge/incident/graph.h"
#include "judge/incident/incident.h"

namespace wardmote::agent {

/// Clusters above their members; checks below what they depend on. In a mesh the daemons are above
/// their sessions, and each session above what the checks of both ends say of their sessions.
judge::incident::Graph dependencies(const config::Config& config);

/// How patient the book must be after a restart: long enough for every check to be believed again.
judge::incident::BookPolicy book_policy(const config::Config& config);

/// The owners of symptoms whose subject is no more, or another under its name, with `next`.
std::vector<std::string> begun_anew(const config::Config& before, const config::Config& next,
                                    const ReloadPlan& plan);

struct News {
  judge::incident::Symptom symptom;
  bool stands = false;  ///< it began or goes on; else it is over
};

/// What `change` means for the book; nothing for most.
std::optional<News> news_of(const judge::Change& change, const config::Config& config,
                            TimePoint now);

}  // namespace wardmote::agent
