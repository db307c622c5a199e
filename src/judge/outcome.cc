#include "judge/outcome.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace wardmote::judge {
namespace {

struct Row {
  ReasonCode code;
  std::string_view name;
  Meaning meaning;
};

/// kRejected is held against the agent, because it also stands for a question that the agent put
/// wrongly. So is kUntrusted: the trusted CAs are our setting.
constexpr auto kReasons = std::to_array<Row>({
    {ReasonCode::kNone, "none", Meaning::kGood},
    {ReasonCode::kHung, "hung", Meaning::kBad},
    {ReasonCode::kRefused, "refused", Meaning::kBad},
    {ReasonCode::kMissing, "missing", Meaning::kBad},
    {ReasonCode::kDenied, "denied", Meaning::kOurs},
    {ReasonCode::kUntrusted, "untrusted", Meaning::kOurs},
    {ReasonCode::kExpired, "expired", Meaning::kBad},
    {ReasonCode::kUnreachable, "unreachable", Meaning::kBad},
    {ReasonCode::kClosed, "closed", Meaning::kUnreadable},
    {ReasonCode::kProtocol, "protocol", Meaning::kUnreadable},
    {ReasonCode::kOverLimit, "over_limit", Meaning::kUnreadable},
    {ReasonCode::kRejected, "rejected", Meaning::kOurs},
    {ReasonCode::kUnknownCluster, "unknown_cluster", Meaning::kBad},
    {ReasonCode::kNotClustered, "not_clustered", Meaning::kBad},
    {ReasonCode::kState, "state", Meaning::kOurs},
    {ReasonCode::kProberStarved, "prober_starved", Meaning::kOurs},
    {ReasonCode::kNotProbed, "not_probed", Meaning::kOurs},
    {ReasonCode::kNoResolver, "no_resolver", Meaning::kOurs},
});

const Row& row_of(ReasonCode code) noexcept {
  const auto found = std::ranges::find(kReasons, code, &Row::code);
  return found == kReasons.end() ? kReasons.front() : *found;
}

}  // namespace

std::string_view to_string(Outcome outcome) noexcept {
  switch (outcome) {
    case Outcome::kOk: return "ok";
    case Outcome::kWarn: return "warn";
    case Outcome::kFail: return "fail";
    case Outcome::kUnknown: return "unknown";
  }
  return "unknown";
}

std::string_view to_string(ReasonCode code) noexcept {
  return row_of(code).name;
}

ReasonCode parse_reason(std::string_view name) noexcept {
  const auto found = std::ranges::find(kReasons, name, &Row::name);
  return found == kReasons.end() ? ReasonCode::kNone : found->code;
}

Meaning meaning_of(ReasonCode code) noexcept {
  return row_of(code).meaning;
}

bool unreadable(Outcome outcome, ReasonCode code) noexcept {
  return outcome == Outcome::kUnknown && meaning_of(code) == Meaning::kUnreadable;
}

}  // namespace wardmote::judge
