#include "observe/endpoint/dns_probe.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/text.h"
#include "base/time.h"
#include "codec/bytes.h"
#include "codec/dns.h"
#include "judge/endpoint/dns.h"
#include "judge/judgement.h"
#include "judge/observation.h"
#include "judge/outcome.h"
#include "observe/endpoint/flood_brake.h"
#include "observe/kinds.h"
#include "observe/params.h"
#include "observe/probe.h"
#include "observe/reason.h"
#include "runtime/datagrams.h"
#include "runtime/deadline.h"
#include "runtime/endpoint.h"
#include "runtime/files.h"
#include "runtime/runtime.h"
#include "runtime/stream.h"
#include "runtime/task.h"

namespace wardmote::observe {

using codec::DnsReply;
using judge::DnsFacts;
using judge::Observation;
using runtime::Deadline;
using runtime::Endpoint;
using runtime::Task;

namespace {

constexpr auto kParams = std::to_array<ParamSpec>({
    {"name", ParamType::kText, true, "name to ask for: api.example.org"},
    {"type", ParamType::kText, false, "A, AAAA, CNAME, MX, NS, PTR, SOA, SRV or TXT (default: A)"},
    {"server", ParamType::kEndpoint, false,
     "host and port of the name server (default: the first of /etc/resolv.conf)"},
    {"rcode", ParamType::kText, false,
     "expected response code, for example NXDOMAIN (default: NOERROR)"},
    {"expect", ParamType::kList, false, "each of these must be among the answers"},
    {"only", ParamType::kFlag, false, "the answers may contain nothing but --expect"},
    {"min_answers", ParamType::kInteger, false, "least number of answers (default: 1)"},
    {"min_ttl", ParamType::kDuration, false, "warn when the TTL of an answer is lower"},
    {"tcp", ParamType::kFlag, false, "ask over TCP only"},
    {"mixed_case", ParamType::kFlag, false,
     "ask in random upper and lower case, which a forged reply would have to match"},
});

constexpr std::uint16_t kPort = 53;
constexpr std::size_t kTries = 3;
constexpr std::size_t kLargestDatagram = 4096;
constexpr std::size_t kMostAnswers = 4096;
constexpr std::size_t kLargestResolvConf = 64 << 10;

/// resolv.conf(5).
Result<Endpoint> first_resolver(runtime::Files& files) {
  const Result<std::string> text = files.read("/etc/resolv.conf", kLargestResolvConf);
  if (!text) return with_context(text, "/etc/resolv.conf");
  for (std::string_view line : split(*text, '\n')) {
    if (!consume_prefix(line, "nameserver")) continue;
    const std::string_view address = trim(line);
    if (!address.empty()) return Endpoint::tcp(std::string(address), kPort);
  }
  return fail(Errc::kMissing, "/etc/resolv.conf names no server");
}

DnsFacts to_facts(const DnsReply& reply, const DnsTarget& target) {
  DnsFacts facts;
  facts.name = target.name;
  facts.type = to_string(target.type);
  facts.rcode = codec::dns_rcode_name(reply.rcode);
  facts.authoritative = reply.authoritative;
  for (const codec::DnsRecord& record : reply.answers) {
    if (record.type != static_cast<std::uint16_t>(target.type)) continue;
    facts.answers.push_back(escape_control(record.data));
    facts.least_ttl = std::min(facts.least_ttl.value_or(record.ttl), record.ttl);
  }
  std::ranges::sort(facts.answers);
  return facts;
}

/// A reply with another id, or a broken one, may come from anybody.
bool may_be_forged(const Error& error) {
  return error.code == Errc::kRejected || error.code == Errc::kProtocol;
}

Result<judge::DnsPolicy> policy_of(const Params& params) {
  judge::DnsPolicy policy;
  policy.rcode = param<std::string>(params, "rcode").value_or(policy.rcode);
  std::ranges::transform(policy.rcode, policy.rcode.begin(),
                         [](char c) { return c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c; });
  bool known = false;
  for (unsigned rcode = 0; rcode < 16; ++rcode)
    known = known || codec::dns_rcode_name(rcode) == policy.rcode;
  if (!known) {
    return fail(Errc::kInvalid, "rcode: '{}' is none, write for example NOERROR or NXDOMAIN",
                escape_control(policy.rcode, 32));
  }
  policy.expect = param<std::vector<std::string>>(params, "expect").value_or(policy.expect);
  policy.only_expected = param<bool>(params, "only").value_or(false);
  if (policy.only_expected && policy.expect.empty())
    return fail(Errc::kInvalid, "only: nothing is expected, give expect too");
  const auto least = integer_param(params, "min_answers", 0, kMostAnswers, 1);
  if (!least) return std::unexpected(least.error());
  policy.min_answers = static_cast<std::size_t>(*least);
  const Duration ttl = param<Duration>(params, "min_ttl").value_or(Duration::zero());
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(ttl).count();
  policy.min_ttl = static_cast<std::uint32_t>(std::clamp<std::int64_t>(seconds, 0, UINT32_MAX));
  return policy;
}

}  // namespace

std::string DnsProbe::mixed(std::string name) {
  std::uint64_t bits = runtime_.random();
  for (char& c : name) {
    if (bits <= 1) bits = runtime_.random() | 1;
    const bool letter = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
    if (!letter) continue;
    c = static_cast<char>((c & ~0x20) | ((bits & 1) != 0 ? 0x20 : 0));
    bits >>= 1;
  }
  return name;
}

Result<DnsProbe::Asking> DnsProbe::prepare() {
  Asking asking;
  asking.server = target_.server;
  if (asking.server.host.empty()) {
    Result<Endpoint> first = first_resolver(runtime_.files());
    if (!first) return std::unexpected(first.error());
    asking.server = *std::move(first);
  }
  asking.question.id = static_cast<std::uint16_t>(runtime_.random());
  asking.question.name = target_.mixed_case ? mixed(target_.name) : target_.name;
  asking.question.type = target_.type;
  Result<std::string> query = encode_dns_query(asking.question);
  if (!query) return std::unexpected(query.error());
  asking.query = *std::move(query);
  return asking;
}

Task<Observation> DnsProbe::look(Deadline deadline) {
  Observation observation;
  observation.subject = subject_;
  observation.cost.fresh_connection = true;
  observation.begun = runtime_.now();
  Result<Asking> asking = prepare();
  Result<DnsReply> reply = fail(Errc::kInternal, "nothing");
  if (asking) {
    reply = co_await ask(&*asking, deadline);
    observation.cost = asking->cost;
  } else {
    reply = std::unexpected(asking.error());
  }
  observation.ended = runtime_.now();
  if (!reply) {
    observation.reason = reason_of(reply.error());
    observation.outcome = outcome_of(observation.reason.code);
    // If there is no server to ask, nothing is known about the server that was meant.
    if (!asking) observation.outcome = judge::Outcome::kUnknown;
    co_return observation;
  }
  DnsFacts facts = to_facts(*reply, target_);
  facts.over_tcp = asking->over_tcp;
  facts.tries = asking->tries;
  facts.answer_time = observation.ended - observation.begun;
  judge::Judgement judgement = judge_dns(facts, target_.policy);
  observation.outcome = judgement.outcome;
  observation.reason = std::move(judgement.reason);
  observation.facts = std::move(facts);
  co_return observation;
}

namespace {

/// `udp:10.0.0.1:53`: an endpoint does not know that datagrams go to it.
std::string place_of(const runtime::Endpoint& server, bool over_tcp) {
  std::string place = to_string(server);
  if (!over_tcp && place.starts_with("tcp:")) place.replace(0, 3, "udp");
  return place;
}

}  // namespace

Task<Result<DnsReply>> DnsProbe::ask(Asking* asking, Deadline deadline) {
  Result<DnsReply> reply = fail(Errc::kInternal, "nothing");
  if (!target_.tcp) reply = co_await ask_by_datagrams(asking, deadline);
  if (target_.tcp || (reply && reply->truncated)) {
    asking->over_tcp = true;
    reply = co_await ask_over_tcp(asking, deadline);
  }
  if (!reply) co_return with_context(reply, "{}", place_of(asking->server, asking->over_tcp));
  co_return reply;
}

/// A lost datagram is sent again after a third of the time.
Task<Result<DnsReply>> DnsProbe::ask_by_datagrams(Asking* asking, Deadline deadline) {
  runtime::DatagramTarget to;
  to.host = asking->server.host;
  to.port = asking->server.port;
  const auto socket = co_await runtime_.open_datagrams(std::move(to), deadline);
  if (!socket) co_return std::unexpected(socket.error());
  const Duration share = deadline.left(runtime_.now()) / static_cast<Duration::rep>(kTries);
  std::array<char, kLargestDatagram> room;
  FloodBrake brake(runtime_);
  for (asking->tries = 1;; ++asking->tries) {
    const Result<void> sent = (*socket)->send(asking->query);
    if (!sent) co_return std::unexpected(sent.error());
    asking->cost.bytes_out += asking->query.size();
    const bool last = asking->tries == kTries;
    const Deadline until = last ? deadline : Deadline{runtime_.now() + share};
    while (!until.passed(runtime_.now())) {
      const Result<std::size_t> got = co_await (*socket)->receive(room, until);
      if (!got && got.error().code == Errc::kTimeout) break;
      if (!got) co_return std::unexpected(got.error());
      asking->cost.bytes_in += *got;
      const std::string_view bytes(room.data(), std::min(*got, room.size()));
      Result<DnsReply> reply = parse_dns_reply(bytes, asking->question);
      if (reply || !may_be_forged(reply.error())) co_return reply;
      co_await brake.ignored(until);
    }
    if (last) break;
  }
  if (brake.count() > 0) {
    co_return fail(Errc::kProtocol, "{} datagrams, and none of them a reply to our question",
                   brake.count());
  }
  co_return fail(Errc::kTimeout, "no answer to {} datagrams", asking->tries);
}

/// RFC 7766: a length of two bytes before each message.
Task<Result<DnsReply>> DnsProbe::ask_over_tcp(Asking* asking, Deadline deadline) {
  const auto stream = co_await runtime_.connect(asking->server, deadline);
  if (!stream) co_return std::unexpected(connect_failure(asking->server, stream.error()));
  std::string framed{static_cast<char>(asking->query.size() >> 8),
                     static_cast<char>(asking->query.size() & 0xff)};
  framed += asking->query;
  const Result<void> written = co_await (*stream)->write(framed, deadline);
  if (!written) co_return with_context(written, "TCP: write");
  asking->cost.bytes_out += framed.size();
  std::string bytes(2, '\0');
  std::size_t have = 0;
  for (bool has_length = false; !has_length || have < bytes.size();) {
    if (deadline.passed(runtime_.now()))
      co_return fail(Errc::kTimeout, "TCP: {} bytes of an answer", have);
    const std::span<char> room = std::span(bytes).subspan(have);
    const Result<std::size_t> got = co_await (*stream)->read_some(room, deadline);
    if (!got) co_return with_context(got, "TCP: {} bytes of an answer", have);
    have += *got;
    asking->cost.bytes_in += *got;
    if (has_length || have < 2) continue;
    has_length = true;
    bytes.resize(2 + codec::big_endian<std::uint16_t>(bytes));
  }
  co_return parse_dns_reply(std::string_view(bytes).substr(2), asking->question);
}

std::span<const ParamSpec> dns_params() noexcept {
  return kParams;
}

Result<std::unique_ptr<Probe>> make_dns_probe(runtime::Runtime& runtime, std::string subject,
                                              const Params& params) {
  DnsTarget target;
  target.name = *param<std::string>(params, "name");
  if (target.name.size() > 1 && target.name.ends_with('.')) target.name.pop_back();
  const std::string type = param<std::string>(params, "type").value_or("A");
  const auto known = codec::dns_type_of(type);
  if (!known) {
    return fail(Errc::kInvalid, "type: '{}' is none of A, AAAA, CNAME, MX, NS, PTR, SOA, SRV, TXT",
                escape_control(type, 32));
  }
  target.type = *known;
  const Result<std::string> query = codec::encode_dns_query({0, target.name, target.type});
  if (!query) return with_context(query, "name");
  if (const auto server = param<std::string>(params, "server")) {
    Result<Endpoint> endpoint = runtime::parse_endpoint(*server);
    if (!endpoint) return with_context(endpoint, "server");
    if (endpoint->kind != Endpoint::Kind::kTcp)
      return fail(Errc::kInvalid, "server: {} is not a host and port", to_string(*endpoint));
    target.server = *std::move(endpoint);
  }
  target.tcp = param<bool>(params, "tcp").value_or(false);
  target.mixed_case = param<bool>(params, "mixed_case").value_or(false);
  Result<judge::DnsPolicy> policy = policy_of(params);
  if (!policy) return std::unexpected(policy.error());
  target.policy = *std::move(policy);
  return std::make_unique<DnsProbe>(runtime, std::move(subject), std::move(target));
}

}  // namespace wardmote::observe
