#include "cli/ocf/notification.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/format.h"
#include "base/text.h"
#include "cli/ocf/parameters.h"

namespace wardmote::cli::ocf {
namespace {

constexpr std::string_view kPrefix = "OCF_RESKEY_CRM_meta_notify_";
constexpr std::size_t kMostNodes = 256;

/// An empty list is a single space.
std::vector<std::string> words(const std::string& text) {
  std::vector<std::string> found;
  for (const std::string_view word : split(text, ' ')) {
    if (!trim(word).empty() && found.size() < kMostNodes) found.emplace_back(trim(word));
  }
  return found;
}

bool contains(const std::vector<std::string>& list, std::string_view name) {
  return std::ranges::find(list, name) != list.end();
}

}  // namespace

Notification read_notification(const Environment& environment) {
  const auto value = [&](std::string_view name) {
    return environment(fmt::format("{}{}", kPrefix, name));
  };
  Notification read;
  read.type = value("type");
  read.operation = value("operation");
  const std::string promoted = value("promoted_uname");
  read.promoted = words(promoted.empty() ? value("master_uname") : promoted);
  const std::string unpromoted = value("unpromoted_uname");
  read.unpromoted = words(unpromoted.empty() ? value("slave_uname") : unpromoted);
  read.promoting = words(value("promote_uname"));
  read.demoting = words(value("demote_uname"));
  read.starting = words(value("start_uname"));
  read.stopping = words(value("stop_uname"));
  return read;
}

std::string active_node(const Notification& notification, std::string_view recorded) {
  for (const std::string& node : notification.promoted) {
    if (!contains(notification.demoting, node) && !contains(notification.stopping, node))
      return node;
  }
  // A node whose name contains that of another is not the other.
  const bool starts = !recorded.empty() && contains(notification.starting, recorded);
  return starts ? std::string(recorded) : std::string();
}

}  // namespace wardmote::cli::ocf
