#include "cli/assess_plan.h"

#include <algorithm>
#include <chrono>
#include <set>
#include <utility>

#include "base/text.h"

namespace wardmote::cli {
namespace {

using namespace std::chrono_literals;

constexpr Duration kShortestInterval = 10ms;

Result<std::vector<MemberSpec>> members_of(const Call& call) {
  std::vector<MemberSpec> members;
  std::set<std::string> names;
  for (const std::string& text : call.values("member")) {
    Result<MemberSpec> member = parse_member_spec(text);
    if (!member) return std::unexpected(member.error());
    if (!names.insert(member->name).second) return fail(Errc::kInvalid, "--member: two are named '{}'", member->name);
    members.push_back(std::move(*member));
  }
  return members;
}

}  // namespace

Result<MemberSpec> parse_member_spec(std::string_view text) {
  std::string_view rest = text;
  MemberSpec member;
  member.name = take_until(rest, '=');
  member.control = take_until(rest, ',');
  member.ovsdb = rest;
  if (member.name.empty() || member.control.empty()) {
    return fail(Errc::kInvalid, "--member: '{}' is not NAME=CTL or NAME=CTL,OVSDB", escape_control(text));
  }
  return member;
}

Result<AssessPlan> assess_plan(const Call& call) {
  const Result<std::vector<MemberSpec>> members = members_of(call);
  if (!members) return std::unexpected(members.error());
  const Result<std::int64_t> replicas = call.integer("replicas", 0);
  if (!replicas) return std::unexpected(replicas.error());
  if (*replicas < 0) return fail(Errc::kInvalid, "--replicas: a number of voters cannot be negative");
  const Result<Duration> total = call.duration("for", Duration::zero());
  if (!total) return std::unexpected(total.error());
  const Result<Duration> every = call.duration("every", 1s);
  if (!every) return std::unexpected(every.error());
  const Result<Duration> timeout = call.duration("timeout", 900ms);
  if (!timeout) return std::unexpected(timeout.error());
  if (*every < kShortestInterval) return fail(Errc::kInvalid, "--every: at least 10ms");
  if (*timeout == Duration::zero()) return fail(Errc::kInvalid, "--timeout: a look needs some time");
  return AssessPlan{.members = *members,
                    .expectation = {.database = call.value("db"),
                                    .addresses = call.values("expect"),
                                    .replicas = static_cast<std::size_t>(*replicas)},
                    .total = *total,
                    .every = *every,
                    .timeout = *timeout};
}

}  // namespace wardmote::cli
