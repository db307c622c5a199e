#pragma once
// What the incident book is told about the configuration.

#include <string>
#include <string_view>
#include <vector>

#include "config/config.h"
#include "config/reload_plan.h"
#include "judge/incident/book.h"
#include "judge/incident/news.h"

namespace wardmote::incidents {

/// Adds what the things of a domain depend on, and how its checks are known to incidents.
using Depend = void (*)(const config::Config& config, judge::incident::Dependencies& known);
/// Those of all domains.
using Depends = std::vector<Depend>;

/// Things above what they consist of (each domain tells), checks below what they depend on. Of
/// agents that share a store each has checks of its own, which have its name behind theirs
/// (`check:bird@ctl-1`); `node` is empty for an agent that shares none.
judge::incident::Dependencies dependencies(const config::Config& config, const Depends& depends,
                                           const std::string& node = "");
/// A node whose agent shares a store: `node:ctl-1`. Its checks are below it.
std::string node_in_graph(std::string_view node);
/// The check of a name in the graph, whosever it is, or the one that stands for a thing: `bird` of
/// `check:bird@ctl-1`, `nb` of `cluster:nb`.
std::string_view check_in(std::string_view component);

/// How patient the book must be after a restart: long enough for every check to be believed again.
judge::incident::BookPolicy book_policy(const config::Config& config);

/// The owners of symptoms whose subject is no more, or another under its name, with `next`.
judge::incident::Departures departures(const config::Config& before, const config::Config& next,
                                       const config::ReloadPlan& plan, const Depends& depends,
                                       const std::string& node = "");

/// Whether the root of an incident is a thing that `config` does not have, as far as its name
/// tells. What belongs to another agent than `node` is not known here, and not gone. `known` is of
/// `config`.
bool is_gone(std::string_view root, const config::Config& config,
             const judge::incident::Dependencies& known, std::string_view node = "");

}  // namespace wardmote::incidents
