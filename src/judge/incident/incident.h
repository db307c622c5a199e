#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "judge/finding.h"
#include "judge/incident/damping.h"

namespace wardmote::judge::incident {

/// Something that is wrong with one thing: a finding, or a confirmed failure of a check.
struct Symptom {
  std::string owner;  ///< the reporting thing: `cluster:nb`, `check:bird`
  /// the failing thing, by its name in the graph; the owner or something below it
  std::string component;
  Code code{};
  Severity severity = Severity::kInfo;
  bool optional = false;  ///< its check is: then it is a warning, however grave the thing is
  /// all names of the thing; it may get more while the symptom lasts
  std::vector<std::string> names;
  std::string summary;
  TimePoint since;
  bool recalled = false;  ///< an earlier life of the agent saw it, and this one has not looked yet
  std::string kind{};     ///< of the owner, as storms are counted; for who does not know that thing
  std::vector<std::string> above{};  ///< what the component depends on; for the same
  friend bool operator==(const Symptom&, const Symptom&) = default;
};

/// Whether both are about the same thing: one common name is enough.
bool same(const Symptom& a, const Symptom& b);

enum class Phase : std::uint8_t {
  kOpen,
  kMerged,  ///< it continues as a part of another
  kResolved,
};

struct Acknowledgement {
  std::string by;
  std::string comment;
  TimePoint at;
  friend bool operator==(const Acknowledgement&, const Acknowledgement&) = default;
};

/// Everything that has one cause, from its beginning to its end.
struct Incident {
  std::int64_t id = 0;  ///< 1, 2, 3 …
  std::string root;     ///< the highest failing thing in the graph
  Phase phase = Phase::kOpen;
  Code code{};  ///< of the root's own failure; of the gravest symptom when the root is well again
  Severity severity = Severity::kInfo;
  std::string summary;
  std::vector<std::string> names;
  std::size_t symptoms = 0;  ///< present symptoms
  /// What failed in it since it was opened, up to a limit: each of these things opens it again when
  /// it fails soon after the end. Empty for a storm.
  std::vector<std::string> things;
  bool flapping = false;       ///< it came and went too often: it ends when it has been calm
  Penalty penalty{};           ///< for each time that it began
  bool storm = false;          ///< many things of one kind at once
  std::size_t told_size = 0;   ///< of a storm: how many failed at the last report
  std::size_t worst_size = 0;  ///< of a storm: how many failed at most
  int reopened = 0;
  /// Things that were taken out of the configuration while they failed in it, up to a limit: nobody
  /// saw them good.
  std::vector<std::string> left{};
  bool unwatched = false;  ///< it ended because its root is no longer watched; nobody saw it good
  std::int64_t merged_into = 0;  ///< the incident in which it continues, or with which it ended
  std::optional<Acknowledgement> acknowledged;
  TimePoint opened;
  TimePoint since;  ///< when it began, or when it was reopened
  TimePoint changed;
  std::optional<TimePoint> resolved;
  std::uint64_t revision = 0;  ///< of its last step that others must know of
  friend bool operator==(const Incident&, const Incident&) = default;
};

enum class StepKind : std::uint8_t {
  kOpened,
  kReopened,
  kChanged,  ///< another severity, cause or root
  kFlapping,
  kAcknowledged,
  kUnacknowledged,  ///< nobody has acknowledged the cause that it has now
  kMerged,          ///< it continues as a part of another
  kResolved,        ///< also a merged one, when nothing of it fails any more
};

/// What happened to an incident, and the incident afterwards.
struct Step {
  StepKind kind;
  Incident incident;
};

using Steps = std::vector<Step>;

std::string_view to_string(StepKind kind) noexcept;  ///< `opened`, `reopened`, …
std::string_view to_string(Phase phase) noexcept;    ///< `open`, `merged`, `resolved`

}  // namespace wardmote::judge::incident
