#include "judge/endpoint/http.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "base/format.h"
#include "base/text.h"
#include "judge/judgement.h"
#include "judge/outcome.h"

namespace wardmote::judge {
namespace {

constexpr std::size_t kLongestHint = 160;

Judgement bad(std::string text) {
  return {Outcome::kFail, {ReasonCode::kState, std::move(text)}};
}

/// A row of a table, with one blank between its cells.
std::string squeezed(std::string_view line) {
  std::string words;
  for (std::string_view rest = line; !rest.empty();) {
    const std::size_t end = rest.find_first_of(" \t|");
    const std::string_view word = rest.substr(0, end);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    if (word.empty()) continue;
    if (!words.empty()) words += ' ';
    words += word;
  }
  return words.substr(0, kLongestHint);
}

/// The reason in a body: the row of Felix's health table that failed, else the first line.
std::string hint(std::string_view body) {
  std::string first;
  for (std::string_view rest = body; !rest.empty();) {
    const std::string_view line = trim(take_until(rest, '\n'));
    for (const std::string_view blame : {"timed out", "reporting non-", "[-]"}) {
      if (line.contains(blame)) return squeezed(line);
    }
    if (first.empty() && !line.starts_with("+-")) first = squeezed(line);
  }
  return first;
}

}  // namespace

Judgement judge_http(const HttpFacts& facts, const HttpPolicy& policy) {
  if (facts.refused_redirect)
    return bad(fmt::format("status {}, not followed to {}", facts.status, *facts.refused_redirect));
  const bool good = std::ranges::any_of(policy.statuses, [&](const StatusRange& range) {
    return facts.status >= range.first && facts.status <= range.last;
  });
  if (!good) {
    const std::string said = hint(facts.body);
    return bad(fmt::format("status {}{}{}", facts.status, said.empty() ? "" : ": ", said));
  }
  if (!facts.body_matches.value_or(true))
    return bad(fmt::format("no '{}' in the body", policy.body));
  return {};
}

}  // namespace wardmote::judge
