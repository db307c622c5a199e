#include "judge/endpoint/dns.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "base/format.h"
#include "judge/judgement.h"
#include "judge/outcome.h"

namespace wardmote::judge {
namespace {

Judgement judged(Outcome outcome, std::string text) {
  return {outcome, {ReasonCode::kState, std::move(text)}};
}

bool contains(const std::vector<std::string>& all, const std::string& one) {
  return std::ranges::find(all, one) != all.end();
}

std::vector<std::string> those_not_in(const std::vector<std::string>& some,
                                      const std::vector<std::string>& others) {
  std::vector<std::string> left;
  std::ranges::copy_if(some, std::back_inserter(left),
                       [&](const std::string& one) { return !contains(others, one); });
  return left;
}

}  // namespace

Judgement judge_dns(const DnsFacts& facts, const DnsPolicy& policy) {
  const std::string question = fmt::format("{} {}", facts.name, facts.type);
  if (facts.rcode != policy.rcode) {
    // A server that could not or would not answer says nothing about the name.
    const bool of_the_name = facts.rcode == "NOERROR" || facts.rcode == "NXDOMAIN";
    return judged(of_the_name || policy.rcode != "NOERROR" || facts.rcode == "SERVFAIL"
                      ? Outcome::kFail
                      : Outcome::kUnknown,
                  fmt::format("{}: {} instead of {}", question, facts.rcode, policy.rcode));
  }
  if (facts.rcode != "NOERROR") return {};
  if (facts.answers.size() < policy.min_answers) {
    return judged(Outcome::kFail, fmt::format("{}: {} answers instead of {} at least", question,
                                              facts.answers.size(), policy.min_answers));
  }
  const auto missing = those_not_in(policy.expect, facts.answers);
  if (!missing.empty()) {
    return judged(Outcome::kFail,
                  fmt::format("{}: {} is not among the answers {}", question,
                              fmt::join(missing, ", "), fmt::join(facts.answers, ", ")));
  }
  const auto strangers = those_not_in(facts.answers, policy.expect);
  if (policy.only_expected && !strangers.empty()) {
    return judged(Outcome::kFail,
                  fmt::format("{}: {} is not expected", question, fmt::join(strangers, ", ")));
  }
  if (facts.least_ttl && *facts.least_ttl < policy.min_ttl) {
    return judged(Outcome::kWarn, fmt::format("{}: TTL {} s, less than {} s", question,
                                              *facts.least_ttl, policy.min_ttl));
  }
  return {};
}

}  // namespace wardmote::judge
