#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "judge/notify/regex.h"

namespace wardmote::judge::notify {

/// The labels of an incident for routes and silences: `code`, `severity`, `root`, …
using Labels = std::map<std::string, std::string, std::less<>>;

/// `code=RAFT_*`, `severity!=warning`: a label that does (not) match a pattern, in which `*` stands
/// for any text. `code=~RAFT_(JOINING|ZOMBIE).*` and `root!~check:.*`: one that does (not) match a
/// regular expression as a whole. A missing label is an empty one.
struct Matcher {
  std::string label;
  bool equal = true;
  std::string pattern;
  std::optional<Regex> regex{};  ///< that of `pattern`, if it is one
  friend bool operator==(const Matcher&, const Matcher&) = default;
};

/// kInvalid says how to write one.
Result<Matcher> parse_matcher(std::string_view text);
/// A text that parse_matcher accepts.
std::string to_string(const Matcher& matcher);

/// The labels that incidents have, besides those of the node itself.
inline constexpr std::string_view kIncidentLabels[] = {"cluster", "code",     "node",    "root",
                                                       "scope",   "severity", "subject", "uuid"};

/// kInvalid names all labels if `matcher` uses one that no incident has: it would match nothing, or
/// everything. `own` are the labels of the node.
Result<void> check_label(const Matcher& matcher, const std::map<std::string, std::string>& own);

/// Whether it matches.
bool match(const Matcher& matcher, const Labels& labels);

/// Whether all of them match; none match everything.
bool match(std::span<const Matcher> matchers, const Labels& labels);

/// Whether `text` matches `pattern`, in time proportional to both.
bool like(std::string_view pattern, std::string_view text) noexcept;

}  // namespace wardmote::judge::notify
