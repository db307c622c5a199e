#include "cli/assess_plan.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/text.h"
#include "base/time.h"
#include "cli/command.h"
#include "codec/raft_address.h"
#include "observe/ovn/member.h"
#include "runtime/endpoint.h"

namespace wardmote::cli {
namespace {

using namespace std::chrono_literals;
using observe::ovn::MemberTarget;

constexpr Duration kShortestInterval = 10ms;

Result<std::vector<MemberTarget>> members_of(const Call& call) {
  std::vector<MemberTarget> members;
  std::set<std::string> names;
  for (const std::string& text : call.values("member")) {
    Result<MemberTarget> member = parse_member(text, call.value("db"));
    if (!member) return with_context(member, "--member");
    if (!names.insert(member->name).second)
      return fail(Errc::kInvalid, "--member: two are named '{}'", member->name);
    members.push_back(std::move(*member));
  }
  return members;
}

}  // namespace

Result<MemberTarget> parse_member(std::string_view text, std::string database) {
  std::string_view rest = text;
  MemberTarget member{.database = std::move(database)};
  member.name = take_until(rest, '=');
  const std::string_view control = take_until(rest, ',');
  if (member.name.empty() || control.empty()) {
    return fail(Errc::kInvalid, "'{}' is not NAME=CTL or NAME=CTL,OVSDB", escape_control(text));
  }
  const Result<runtime::Endpoint> control_endpoint = runtime::parse_endpoint(control);
  if (!control_endpoint) return with_context(control_endpoint, "{}", member.name);
  // A control socket is local, so a port can only be that of the database.
  const bool remote = control_endpoint->kind != runtime::Endpoint::Kind::kUnix;
  (remote ? member.ovsdb : member.control) = *control_endpoint;
  if (rest.empty()) return member;
  if (remote) {
    return fail(Errc::kInvalid, "{}: {} is not a control socket, which is a unix socket",
                member.name, to_string(*control_endpoint));
  }
  const Result<runtime::Endpoint> ovsdb = runtime::parse_endpoint(rest);
  if (!ovsdb) return with_context(ovsdb, "{}", member.name);
  member.ovsdb = *ovsdb;
  return member;
}

Result<AssessPlan> assess_plan(const Call& call) {
  Result<std::vector<MemberTarget>> members = members_of(call);
  if (!members) return std::unexpected(members.error());
  const Result<std::int64_t> replicas = call.integer("replicas", 0);
  if (!replicas) return std::unexpected(replicas.error());
  if (*replicas < 0)
    return fail(Errc::kInvalid, "--replicas: a number of voters cannot be negative");
  const Result<Duration> total = call.duration("for", Duration::zero());
  if (!total) return std::unexpected(total.error());
  const Result<Duration> every = call.duration("every", 1s);
  if (!every) return std::unexpected(every.error());
  const Result<Duration> timeout = call.duration("timeout", 900ms);
  if (!timeout) return std::unexpected(timeout.error());
  if (*every < kShortestInterval) return fail(Errc::kInvalid, "--every: at least 10ms");
  if (*timeout == Duration::zero())
    return fail(Errc::kInvalid, "--timeout: a look needs some time");
  std::vector<std::string> expected = call.values("expect");
  std::ranges::transform(expected, expected.begin(), codec::normal_address);
  return AssessPlan{.members = std::move(*members),
                    .expectation = {.database = call.value("db"),
                                    .addresses = std::move(expected),
                                    .replicas = static_cast<std::size_t>(*replicas)},
                    .total = *total,
                    .every = *every,
                    .timeout = *timeout};
}

}  // namespace wardmote::cli
