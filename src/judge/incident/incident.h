#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "judge/finding.h"

namespace wardmote::judge::incident {

/// Something that is wrong with one thing: a finding, or a check that failed for sure.
struct Symptom {
  std::string owner;      ///< who tells of it: `cluster:nb`, `check:bird`
  std::string component;  ///< the thing, as the graph names it; the owner or something below it
  Code code{};
  Severity severity = Severity::kInfo;
  std::vector<std::string> names;  ///< all names of the thing; it may learn more while it stands
  std::string summary;
  TimePoint since;
  friend bool operator==(const Symptom&, const Symptom&) = default;
};

/// Whether both tell of the same thing: one name in common will do.
bool same(const Symptom& a, const Symptom& b);

enum class Phase : std::uint8_t { kOpen, kResolved };

struct Acknowledgement {
  std::string by;
  std::string comment;
  TimePoint at;
  friend bool operator==(const Acknowledgement&, const Acknowledgement&) = default;
};

/// What has one cause, from its beginning to its end.
struct Incident {
  std::int64_t id = 0;  ///< 1, 2, 3 …
  std::string root;     ///< the highest thing in the graph that fails
  Phase phase = Phase::kOpen;
  Code code{};  ///< of its gravest symptom, or of its last when it is resolved
  Severity severity = Severity::kInfo;
  std::string summary;
  std::vector<std::string> names;
  std::size_t symptoms = 0;  ///< that stand
  bool flapping = false;     ///< it came and went too often: it ends when it has been calm
  bool storm = false;        ///< many things of one kind at once
  int reopened = 0;
  std::int64_t merged_into = 0;  ///< the incident that turned out to be its cause
  std::optional<Acknowledgement> acknowledged;
  TimePoint opened;
  TimePoint changed;
  std::optional<TimePoint> resolved;
  std::uint64_t revision = 0;  ///< of its last step that others must hear of
  friend bool operator==(const Incident&, const Incident&) = default;
};

enum class StepKind : std::uint8_t {
  kOpened,
  kReopened,
  kChanged,  ///< another severity, cause or root
  kFlapping,
  kAcknowledged,
  kMerged,  ///< it ended, because it is part of another
  kResolved,
};

/// What happened to an incident, which looks like this now.
struct Step {
  StepKind kind;
  Incident incident;
};

using Steps = std::vector<Step>;

std::string_view to_string(StepKind kind) noexcept;  ///< `opened`, `reopened`, …
std::string_view to_string(Phase phase) noexcept;    ///< `open`, `resolved`

}  // namespace wardmote::judge::incident
