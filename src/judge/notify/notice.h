#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "judge/incident/incident.h"
#include "judge/notify/matcher.h"

namespace wardmote::judge::notify {

/// What a notice says of one incident.
enum class Tidings : std::uint8_t {
  kBegan,
  kChanged,
  kStands,  ///< known already, and goes on
  kEnded,
  kCameAndWent,  ///< began and ended before anything could be told
};

struct NoticeItem {
  Tidings tidings{};
  incident::Incident incident;  ///< as it was then
  Labels labels;
};

/// One message to one receiver.
struct Notice {
  std::string group;
  std::uint64_t number = 0;  ///< ascending in its group: when it was composed, in milliseconds
  std::string receiver;
  Labels labels;                  ///< that all of its incidents have in common
  bool repeats = false;           ///< nothing is new
  std::vector<NoticeItem> items;  ///< at least one
  std::size_t left_out = 0;       ///< incidents that did not fit

  /// The same each time that it is sent, so that a receiver can tell a repetition.
  [[nodiscard]] std::string key() const { return group + "#" + std::to_string(number); }
};

/// `began`, `changed`, `stands`, `ended`, `came_and_went`.
std::string_view to_string(Tidings tidings) noexcept;

/// Whether the receiver is told that something is still wrong.
bool any_open(const Notice& notice) noexcept;

}  // namespace wardmote::judge::notify
