#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/ocf/parameters.h"

namespace wardmote::cli::ocf {

/// Which nodes Pacemaker names to an action of a clone with `notify=true`. The lists say what was
/// before the transition, and what is to be done in it. Both spellings of the promoted role are
/// read, the new one first.
struct Notification {
  std::string type;       ///< pre or post; empty outside of the action notify
  std::string operation;  ///< start, stop, promote, demote
  std::vector<std::string> promoted;
  std::vector<std::string> unpromoted;
  std::vector<std::string> promoting;
  std::vector<std::string> demoting;
  std::vector<std::string> starting;
  std::vector<std::string> stopping;

  [[nodiscard]] bool is(std::string_view when, std::string_view what) const noexcept {
    return type == when && operation == what;
  }
};

Notification read_notification(const Environment& environment);

/// The node that is active and stays so: one of those promoted before that are not demoted or
/// stopped now. Else `recorded`, the last one that was promoted, if it is one of those that start
/// now, as the original does. Empty: nobody.
std::string active_node(const Notification& notification, std::string_view recorded);

}  // namespace wardmote::cli::ocf
