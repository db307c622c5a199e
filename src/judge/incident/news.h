#pragma once
// Turns changes of the feed into symptoms for the incident book.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "judge/change.h"
#include "judge/finding.h"
#include "judge/incident/graph.h"
#include "judge/incident/incident.h"

namespace wardmote::judge::incident {

/// What the book must know about a check that is not a plain one.
struct CheckPlace {
  std::string owner;  ///< in the graph; empty: check_node()
  /// The failing thing when the subject answers and complains; empty: the owner.
  std::string complains_of;
  bool optional = false;  ///< its subject may never exist
  /// its cluster or mesh has findings of its own, which say more than the check
  bool has_findings = false;
  /// what it depends on besides what the configuration says
  std::vector<std::string> above{};
  /// other things in the graph that its findings may be about
  std::vector<std::string> finds{};
};

/// What depends on what, and by which name each thing is reported.
struct Dependencies {
  Graph graph;
  std::map<std::string, CheckPlace, std::less<>> checks;  ///< all but the plain ones
  /// Scopes whose things the configuration lists, all of them, and the scope of the thing whose
  /// name each name begins with: `member` → `cluster`, since `member:nb/5b4b` is of `cluster:nb`.
  std::map<std::string, std::string, std::less<>> listed;

  [[nodiscard]] const CheckPlace& place_of(std::string_view check) const noexcept;
  [[nodiscard]] std::string owner_of(std::string_view check) const;
  /// Whether an incident with this root and code tells what this check, or the thing that it stands
  /// for, found.
  [[nodiscard]] bool found_by(std::string_view check, std::string_view root, Code code) const;
  /// Whether the configuration would list the thing if there were one, and does not.
  [[nodiscard]] bool lacks(std::string_view name) const;
  /// The thing that `name` is, or is a part of.
  [[nodiscard]] std::string whole_of(std::string_view name) const;
};

struct News {
  Symptom symptom;
  bool stands = false;  ///< true: it began or goes on; false: it ended
  /// It did not end, and does not count any more: nobody watches it so that it would.
  bool left = false;
};

/// The meaning of `change` for the book; nothing for most changes.
std::optional<News> news_of(const Change& change, const Dependencies& known, TimePoint now);

}  // namespace wardmote::judge::incident
