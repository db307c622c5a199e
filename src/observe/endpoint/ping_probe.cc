#include "observe/endpoint/ping_probe.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <expected>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "base/text.h"
#include "base/time.h"
#include "codec/icmp.h"
#include "judge/endpoint/ping.h"
#include "judge/judgement.h"
#include "judge/observation.h"
#include "observe/endpoint/flood_brake.h"
#include "observe/kinds.h"
#include "observe/params.h"
#include "observe/probe.h"
#include "observe/reason.h"
#include "runtime/datagrams.h"
#include "runtime/deadline.h"
#include "runtime/runtime.h"
#include "runtime/task.h"

namespace wardmote::observe {

using judge::Observation;
using judge::PingFacts;
using runtime::DatagramTarget;
using runtime::Deadline;
using runtime::Task;

namespace {

constexpr auto kParams = std::to_array<ParamSpec>({
    {"host", ParamType::kText, true, "name or address"},
    {"count", ParamType::kInteger, false, "number of requests (default: 3)"},
    {"interval", ParamType::kDuration, false, "time between two requests (default: 100ms)"},
    {"family", ParamType::kText, false, "ipv4 or ipv6 (default: the first address of the name)"},
    {"warn_lost", ParamType::kInteger, false,
     "warn when this many requests have no answer (default: 1; 0: never)"},
    {"warn_rtt", ParamType::kDuration, false, "warn when the mean round-trip time is longer"},
    {"fail_rtt", ParamType::kDuration, false, "fail when the mean round-trip time is longer"},
});

constexpr std::int64_t kMostRequests = 100;
constexpr std::size_t kLongestHost = 253;

Error with_advice(Error error) {
  if (error.code == Errc::kDenied) {
    error.context +=
        " for pings: the kernel lets only groups in net.ipv4.ping_group_range do so without "
        "privileges (sysctl -w net.ipv4.ping_group_range='0 2147483647')";
  }
  return error;
}

}  // namespace

/// Waits until all requests are answered or until `until`; kTimeout is not an error here.
Task<Result<void>> PingProbe::collect(Round* round, Deadline until) {
  std::array<char, 256> room;
  while (round->times.size() < target_.count && !until.passed(runtime_.now())) {
    const Result<std::size_t> got = co_await round->socket->receive(room, until);
    if (!got && got.error().code == Errc::kTimeout) co_return Result<void>();
    if (!got) co_return std::unexpected(got.error());
    round->cost.bytes_in += *got;
    const std::string_view bytes(room.data(), std::min(*got, room.size()));
    const std::optional<std::uint16_t> sequence =
        codec::parse_echo_reply(bytes, round->ipv6, round->payload);
    if (!sequence || *sequence >= round->sent.size() || round->answered[*sequence]) {
      co_await round->brake.ignored(until);
      continue;
    }
    round->answered[*sequence] = true;
    round->times.push_back(runtime_.now() - round->sent[*sequence]);
  }
  co_return Result<void>();
}

Task<Result<PingFacts>> PingProbe::ping(judge::Cost* cost, Deadline deadline) {
  DatagramTarget to{DatagramTarget::Protocol::kPing, target_.host, 0, target_.family};
  auto socket = co_await runtime_.open_datagrams(std::move(to), deadline);
  if (!socket) co_return std::unexpected(with_advice(socket.error()));
  Round round(runtime_);
  round.socket = *std::move(socket);
  const std::string address = round.socket->address();
  round.ipv6 = address.contains(':');
  // So that no other program's reply counts, nor an old one.
  const std::uint64_t token = runtime_.random();
  round.payload.resize(sizeof token);
  std::memcpy(round.payload.data(), &token, sizeof token);
  for (std::size_t i = 0; i < target_.count && !deadline.passed(runtime_.now()); ++i) {
    const std::string request =
        codec::encode_echo_request(round.ipv6, static_cast<std::uint16_t>(i), round.payload);
    round.sent.push_back(runtime_.now());
    round.answered.push_back(false);
    const Result<void> sent = round.socket->send(request);
    if (!sent) co_return with_context(sent, "{}", address);
    round.cost.bytes_out += request.size();
    const bool last = i + 1 == target_.count;
    Deadline until = deadline;
    if (!last) until.at = std::min(deadline.at, round.sent.back() + target_.interval);
    const Result<void> collected = co_await collect(&round, until);
    if (!collected) co_return with_context(collected, "{}", address);
  }
  *cost = round.cost;
  if (round.times.size() < round.sent.size() && round.brake.count() > FloodBrake::kFlood)
    co_return fail(Errc::kLimit, "{}: {} datagrams that are no answers", address,
                   round.brake.count());
  PingFacts facts;
  facts.address = address;
  facts.sent = round.sent.size();
  facts.received = round.times.size();
  if (!round.times.empty()) {
    facts.least = *std::ranges::min_element(round.times);
    facts.most = *std::ranges::max_element(round.times);
    facts.mean = std::accumulate(round.times.begin(), round.times.end(), Duration::zero()) /
                 static_cast<Duration::rep>(round.times.size());
  }
  co_return facts;
}

Task<Observation> PingProbe::look(Deadline deadline) {
  Observation observation;
  observation.subject = subject_;
  observation.begun = runtime_.now();
  Result<PingFacts> facts = co_await ping(&observation.cost, deadline);
  observation.ended = runtime_.now();
  if (!facts) {
    observation.reason = reason_of(facts.error());
    observation.outcome = outcome_of(observation.reason.code);
    co_return observation;
  }
  judge::Judgement judgement = judge_ping(*facts, target_.policy);
  observation.outcome = judgement.outcome;
  observation.reason = std::move(judgement.reason);
  observation.facts = *std::move(facts);
  co_return observation;
}

std::span<const ParamSpec> ping_params() noexcept {
  return kParams;
}

Result<std::unique_ptr<Probe>> make_ping_probe(runtime::Runtime& runtime, std::string subject,
                                               const Params& params) {
  PingTarget target;
  target.host = *param<std::string>(params, "host");
  const bool printable = std::ranges::all_of(
      target.host, [](char c) { return static_cast<unsigned char>(c) > 0x20 && c != 0x7f; });
  if (target.host.empty() || !printable || target.host.size() > kLongestHost)
    return fail(Errc::kInvalid, "host: '{}' is not a host", escape_control(target.host, 64));
  const auto count =
      integer_param(params, "count", 1, kMostRequests, static_cast<std::int64_t>(target.count));
  if (!count) return std::unexpected(count.error());
  target.count = static_cast<std::size_t>(*count);
  target.interval = param<Duration>(params, "interval").value_or(target.interval);
  const std::string family = param<std::string>(params, "family").value_or("");
  if (family == "ipv4") target.family = DatagramTarget::Family::kIpv4;
  if (family == "ipv6") target.family = DatagramTarget::Family::kIpv6;
  if (!family.empty() && target.family == DatagramTarget::Family::kAny)
    return fail(Errc::kInvalid, "family: '{}' is neither ipv4 nor ipv6",
                escape_control(family, 32));
  const auto lost = integer_param(params, "warn_lost", 0, kMostRequests, 1);
  if (!lost) return std::unexpected(lost.error());
  target.policy.warn_lost = static_cast<std::size_t>(*lost);
  target.policy.warn_mean = param<Duration>(params, "warn_rtt");
  target.policy.fail_mean = param<Duration>(params, "fail_rtt");
  return std::make_unique<PingProbe>(runtime, std::move(subject), std::move(target));
}

}  // namespace wardmote::observe
