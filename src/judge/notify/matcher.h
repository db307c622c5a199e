#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace wardmote::judge::notify {

/// What an incident is known by when it is routed and silenced: `code`, `severity`, `root`, …
using Labels = std::map<std::string, std::string, std::less<>>;

/// `code=RAFT_*`, `severity!=warning`: a label that is (not) like a pattern, in which `*` stands
/// for any text. A label that is not there is an empty one.
struct Matcher {
  std::string label;
  bool equal = true;
  std::string pattern;
  friend bool operator==(const Matcher&, const Matcher&) = default;
};

/// kInvalid says how to write one.
Result<Matcher> parse_matcher(std::string_view text);
/// Accepted by parse_matcher.
std::string to_string(const Matcher& matcher);

/// All of them; so none match everything.
bool match(std::span<const Matcher> matchers, const Labels& labels);

/// Whether `text` is like `pattern`, in time proportional to both.
bool like(std::string_view pattern, std::string_view text) noexcept;

}  // namespace wardmote::judge::notify
