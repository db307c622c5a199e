#include "judge/bgp/policy.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/text.h"
#include "base/time.h"
#include "judge/bgp/facts.h"
#include "judge/outcome.h"

namespace wardmote::judge::bgp {
namespace {

/// How many names one sentence has; more are only counted.
constexpr std::size_t kNamed = 8;

using Sessions = std::vector<const Session*>;

template <class Value>
struct Word {
  std::string_view word;
  Value value;
};

constexpr auto kRequires = std::to_array<Word<Require>>(
    {{"startup", Require::kStartup}, {"all", Require::kAll}, {"any", Require::kAny}});
constexpr auto kTreats = std::to_array<Word<Treat>>(
    {{"fail", Treat::kFail}, {"warn", Treat::kWarn}, {"ignore", Treat::kIgnore}});
constexpr auto kDuringRestarts =
    std::to_array<Word<DuringRestart>>({{"startup", DuringRestart::kStartup},
                                        {"fail", DuringRestart::kFail},
                                        {"ignore", DuringRestart::kIgnore}});

template <class Words>
auto find_word(const Words& words, std::string_view word) noexcept
    -> std::optional<decltype(words.front().value)> {
  const auto* const known =
      std::ranges::find_if(words, [&](const auto& one) { return one.word == word; });
  if (known == words.end()) return std::nullopt;
  return known->value;
}

Outcome outcome_of(Treat treat) noexcept {
  switch (treat) {
    case Treat::kFail: return Outcome::kFail;
    case Treat::kWarn: return Outcome::kWarn;
    case Treat::kIgnore: return Outcome::kOk;
  }
  return Outcome::kUnknown;
}

/// All remarks, the worst first.
class Complaints {
 public:
  void add(Outcome outcome, std::string text) {
    if (outcome == Outcome::kFail) {
      failures_.push_back(std::move(text));
    } else if (outcome == Outcome::kWarn) {
      warnings_.push_back(std::move(text));
    }
  }

  [[nodiscard]] Verdict verdict() && {
    if (failures_.empty() && warnings_.empty()) return {Outcome::kOk, {}};
    const Outcome outcome = failures_.empty() ? Outcome::kWarn : Outcome::kFail;
    std::string text;
    for (const std::vector<std::string>* complaints : {&failures_, &warnings_}) {
      for (const std::string& complaint : *complaints)
        text.append(text.empty() ? "" : "; ").append(complaint);
    }
    return {outcome, {ReasonCode::kState, std::move(text)}};
  }

 private:
  std::vector<std::string> failures_;
  std::vector<std::string> warnings_;
};

std::string why(const Session& session) {
  if (session.admin_down) return "administratively down";
  std::string words(to_string(session.state));
  if (!session.last_error.empty()) words += ": " + escape_control(session.last_error, 120);
  return words;
}

template <class Names>
std::string listed(const Names& items, auto&& name) {
  std::string text;
  std::size_t count = 0;
  for (const auto& item : items) {
    if (count++ == kNamed) break;
    text.append(text.empty() ? "" : ", ").append(name(item));
  }
  if (items.size() > kNamed) text += fmt::format(" and {} more", items.size() - kNamed);
  return text;
}

std::string with_reasons(const Sessions& sessions) {
  return listed(sessions, [](const Session* session) {
    return fmt::format("{} ({})", escape_control(session->label(), 120), why(*session));
  });
}

std::string only_names(const Sessions& sessions) {
  return listed(sessions,
                [](const Session* session) { return escape_control(session->label(), 120); });
}

bool is_there(const BgpFacts& facts, std::string_view expected) noexcept {
  return std::ranges::any_of(facts.sessions, [&](const Session& session) {
    return session.name == expected || session.address == expected;
  });
}

void judge_expected(const BgpFacts& facts, const Policy& policy, Complaints& complaints) {
  std::vector<std::string> missing;
  for (const std::string& expected : policy.expect) {
    if (!is_there(facts, expected)) missing.push_back(escape_control(expected, 120));
  }
  if (missing.empty()) return;
  complaints.add(Outcome::kFail, "no session is configured with " +
                                     listed(missing, [](const std::string& name) { return name; }));
}

void judge_restart(const BgpFacts& facts, const Policy& policy, bool starting,
                   Complaints& complaints) {
  if (!facts.restart || policy.restart == DuringRestart::kIgnore) return;
  const bool fails = policy.restart == DuringRestart::kFail || starting;
  std::string text = "graceful restart in progress";
  if (facts.restart->left)
    text += fmt::format(", {} left of its timer", format_duration(*facts.restart->left));
  complaints.add(fails ? Outcome::kFail : Outcome::kWarn, std::move(text));
}

void judge_routes(const Sessions& established, const Policy& policy, Complaints& complaints) {
  Sessions few;
  for (const Session* session : established) {
    if (session->routes && session->routes->imported < policy.min_routes) few.push_back(session);
  }
  if (few.empty()) return;
  complaints.add(Outcome::kWarn, fmt::format("fewer than {} routes imported from {}",
                                             policy.min_routes, only_names(few)));
}

/// The sessions that count, grouped by their remark.
struct Sorted {
  std::size_t seen = 0;
  Sessions established;
  Sessions down;  ///< sessions that should be established and are not
  Sessions disabled;
};

Sorted sort(const BgpFacts& facts, const Policy& policy) {
  Sorted sorted;
  for (const Session& session : facts.sessions) {
    if (!counts(session, policy)) continue;
    ++sorted.seen;
    if (session.established()) {
      sorted.established.push_back(&session);
    } else if (session.admin_down) {
      sorted.disabled.push_back(&session);
    } else if (!session.passive || policy.count_passive) {
      sorted.down.push_back(&session);
    }
  }
  return sorted;
}

void judge_sessions(const Sorted& sorted, const Policy& policy, bool starting,
                    Complaints& complaints) {
  const std::size_t established = sorted.established.size();
  if (sorted.seen == 0) {
    complaints.add(outcome_of(policy.no_peers), "no BGP peers are configured");
    return;
  }
  const bool all =
      policy.require == Require::kAll || (policy.require == Require::kStartup && starting);
  const bool only_disabled = sorted.down.empty() && !sorted.disabled.empty();
  Outcome down = outcome_of(policy.partial);
  if (established == 0 && only_disabled) {
    // With `disabled: ignore`, disabled peers do not count at all.
    const Treat treat = policy.disabled == Treat::kIgnore ? policy.no_peers : Treat::kFail;
    complaints.add(outcome_of(treat),
                   "every peer is administratively down: " + only_names(sorted.disabled));
  } else if (established < policy.min_peers || (established == 0 && !sorted.down.empty())) {
    down = Outcome::kFail;
    if (established != 0 || sorted.down.empty()) {
      complaints.add(Outcome::kFail, fmt::format("{} of at least {} peers are established",
                                                 established, policy.min_peers));
    }
  } else if (all) {
    down = Outcome::kFail;
  }
  if (!sorted.down.empty())
    complaints.add(down, "BGP not established with " + with_reasons(sorted.down));
  if (!sorted.disabled.empty() && !(established == 0 && only_disabled))
    complaints.add(outcome_of(policy.disabled),
                   "administratively down: " + only_names(sorted.disabled));
}

}  // namespace

Policy calico_policy() {
  Policy policy;
  policy.no_peers = Treat::kIgnore;
  policy.partial = Treat::kIgnore;
  policy.disabled = Treat::kIgnore;
  policy.min_peers = 0;
  policy.only = {"Global_", "Node_", "Mesh_"};
  return policy;
}

std::optional<Require> parse_require(std::string_view word) noexcept {
  return find_word(kRequires, word);
}

std::optional<Treat> parse_treat(std::string_view word) noexcept {
  return find_word(kTreats, word);
}

std::optional<DuringRestart> parse_during_restart(std::string_view word) noexcept {
  return find_word(kDuringRestarts, word);
}

bool counts(const Session& session, const Policy& policy) noexcept {
  const bool named =
      policy.only.empty() || std::ranges::any_of(policy.only, [&](const std::string& beginning) {
        return session.name.starts_with(beginning);
      });
  if (!named || policy.family.empty()) return named;
  if (!session.families.empty())
    return std::ranges::find(session.families, policy.family) != session.families.end();
  return session.address.contains(':') == (policy.family == "ipv6");
}

Verdict judge(const BgpFacts& facts, const Policy& policy, std::optional<Duration> started) {
  const bool starting = started && *started >= Duration::zero() && *started < policy.window;
  Complaints complaints;
  if (facts.shutting_down) complaints.add(Outcome::kFail, "the daemon is shutting down");
  judge_expected(facts, policy, complaints);
  const Sorted sorted = sort(facts, policy);
  judge_sessions(sorted, policy, starting, complaints);
  judge_restart(facts, policy, starting, complaints);
  if (policy.min_routes != 0) judge_routes(sorted.established, policy, complaints);
  return std::move(complaints).verdict();
}

}  // namespace wardmote::judge::bgp
