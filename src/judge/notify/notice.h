#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "judge/finding.h"
#include "judge/incident/incident.h"
#include "judge/notify/matcher.h"

namespace wardmote::judge::notify {

/// What is new about an incident in a notice.
enum class NoticeKind : std::uint8_t {
  kOpened,
  kChanged,  ///< also: it continues as a part of another
  kOngoing,  ///< the receiver knows it already
  kResolved,
  kUnwatched,  ///< it ended because it is no longer watched, not because it is good
  kBrief,      ///< it was opened and resolved before the receiver was notified
};

/// One thing of a storm, as it is when the notice is sent.
struct NoticePart {
  Code code{};
  Labels labels;
  TimePoint since;
  friend bool operator==(const NoticePart&, const NoticePart&) = default;
};

struct NoticeItem {
  NoticeKind kind{};
  incident::Incident incident;  ///< the incident as it was then
  Labels labels;
  /// The labels with which the receiver was first notified of it. They never change during the
  /// incident, so a receiver that knows incidents by their labels can rely on these.
  Labels known_as{};
  /// False: nobody has seen it since an agent began anew, or took over.
  bool confirmed = true;
  /// Of a storm, for a receiver that recovers single things: what still fails. Not written down.
  std::vector<NoticePart> parts{};
  friend bool operator==(const NoticeItem&, const NoticeItem&) = default;
};

/// One message to one receiver.
struct Notice {
  std::string group;
  std::uint64_t number = 0;  ///< ascending in its group: when it was composed, in milliseconds
  std::string receiver;
  Labels labels;         ///< common to all of its incidents
  bool repeats = false;  ///< a repetition
  /// Tells a receiver that keeps notices in memory only what is open. It belongs to no group, and
  /// nobody waits for its result.
  bool reminds = false;
  std::vector<NoticeItem> items;  ///< at least one
  std::size_t left_out = 0;       ///< how many incidents did not fit
  /// Of whoever sends it: in which life of the groups. Not written down.
  std::uint64_t reading = 0;

  friend bool operator==(const Notice&, const Notice&) = default;

  /// The same each time that the notice is sent, so that a receiver can recognise a repetition.
  [[nodiscard]] std::string key() const { return group + "#" + std::to_string(number); }
};

/// `opened`, `changed`, `ongoing`, `resolved`, `unwatched`, `brief`.
std::string_view to_string(NoticeKind kind) noexcept;

/// Whether the notice tells the receiver that an incident it knows has ended.
bool ends(NoticeKind kind) noexcept;

/// The labels that all of them have with the same value.
Labels common_labels(const std::vector<NoticeItem>& items);

/// Whether the notice tells the receiver that something is still wrong.
bool any_open(const Notice& notice) noexcept;

}  // namespace wardmote::judge::notify
