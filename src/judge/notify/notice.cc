#include "judge/notify/notice.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "judge/incident/incident.h"
#include "judge/notify/matcher.h"

namespace wardmote::judge::notify {

using incident::Phase;

std::string_view to_string(NoticeKind kind) noexcept {
  switch (kind) {
    case NoticeKind::kOpened: return "opened";
    case NoticeKind::kChanged: return "changed";
    case NoticeKind::kOngoing: return "ongoing";
    case NoticeKind::kResolved: return "resolved";
    case NoticeKind::kUnwatched: return "unwatched";
    case NoticeKind::kBrief: return "brief";
  }
  return "ongoing";
}

bool ends(NoticeKind kind) noexcept {
  return kind == NoticeKind::kResolved || kind == NoticeKind::kUnwatched;
}

Labels common_labels(const std::vector<NoticeItem>& items) {
  if (items.empty()) return {};
  Labels common = items.front().labels;
  for (const NoticeItem& item : items) {
    std::erase_if(common, [&](const auto& label) {
      const auto other = item.labels.find(label.first);
      return other == item.labels.end() || other->second != label.second;
    });
  }
  return common;
}

bool any_open(const Notice& notice) noexcept {
  return std::ranges::any_of(
      notice.items, [](const NoticeItem& item) { return item.incident.phase != Phase::kResolved; });
}

}  // namespace wardmote::judge::notify
