#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "codec/dns.h"
#include "codec/icmp.h"
#include "observe/endpoint/dns_probe.h"
#include "observe/endpoint/ping_probe.h"
#include "sim/ovn_host.h"
#include "sim/seeds.h"

namespace wardmote::sim {
namespace {

using judge::DnsFacts;
using judge::Observation;
using judge::Outcome;
using judge::PingFacts;
using judge::ReasonCode;
using observe::Params;
using runtime::DatagramTarget;
using runtime::Endpoint;
using Answers = std::vector<SimRuntime::Answer>;
using namespace std::chrono_literals;

/// The reply of a name server to `query`: one address, or an empty truncated one.
std::string reply_to(std::string query, bool truncated = false) {
  query[2] = static_cast<char>(truncated ? 0x82 : 0x80);
  if (truncated) return query;
  query[7] = 1;
  return query.append(std::string_view("\xc0\x0c\0\1\0\1\0\0\0\x3c\0\4\x0a\0\0\7", 16));
}

Observation ask(World& sim, SimRuntime& host, Params params = {}) {
  params.emplace("name", "api.example");
  params.emplace("server", "ns:53");
  const auto probe = observe::make_dns_probe(host, "dns", params);
  check(probe.has_value(), probe ? "" : probe.error().describe());
  return run_task(sim, host, (*probe)->look(host.deadline_in(900ms)));
}

SIM_TEST_SEEDS(DnsProbe, AsksAndIsAnswered, 20) {
  SimRuntime& host = sim.host("us");
  host.answer_datagrams([](const DatagramTarget& to, const std::string& query) -> Answers {
    EXPECT_EQ(to.protocol, DatagramTarget::Protocol::kUdp);
    EXPECT_EQ(to.host, "ns");
    EXPECT_EQ(to.port, 53);
    return {{5ms, reply_to(query)}};
  });
  const Observation seen = ask(sim, host, {{"mixed_case", true}});
  EXPECT_EQ(seen.outcome, Outcome::kOk) << seen.reason.text;
  const auto& facts = std::get<DnsFacts>(seen.facts);
  EXPECT_EQ(facts.answers, (std::vector<std::string>{"10.0.0.7"}));
  EXPECT_EQ(facts.least_ttl, 60U);
  EXPECT_EQ(facts.answer_time, 5ms);
  EXPECT_EQ(facts.name, "api.example");
}

SIM_TEST_SEEDS(DnsProbe, ForgedRepliesAreIgnored, 20) {
  SimRuntime& host = sim.host("us");
  host.answer_datagrams([](const DatagramTarget&, const std::string& query) -> Answers {
    std::string other_id = reply_to(query);
    other_id[0] = static_cast<char>(other_id[0] ^ 1);
    std::string other_name = reply_to(query);
    other_name[14] = 'x';
    return {{1ms, other_id}, {2ms, other_name}, {3ms, "\xff\xff"}, {4ms, reply_to(query)}};
  });
  const Observation seen = ask(sim, host);
  EXPECT_EQ(seen.outcome, Outcome::kOk) << seen.reason.text;
  EXPECT_EQ(std::get<DnsFacts>(seen.facts).answer_time, 4ms);

  host.answer_datagrams(
      [](const DatagramTarget&, const std::string&) { return Answers(5000, {1ms, "nonsense"}); });
  const Observation flooded = ask(sim, host);
  EXPECT_EQ(flooded.outcome, Outcome::kUnknown);
  EXPECT_EQ(flooded.reason.code, ReasonCode::kProtocol);
}

/// Whoever forges a thousand replies must not make the agent miss the right one.
SIM_TEST_SEEDS(DnsProbe, TheRightReplyIsAwaitedBehindThousands, 3) {
  SimRuntime& host = sim.host("us");
  host.answer_datagrams([](const DatagramTarget&, const std::string& query) -> Answers {
    Answers answers(5000, {1ms, "nonsense"});
    answers.push_back({290ms, reply_to(query)});
    return answers;
  });
  const Observation seen = ask(sim, host);
  EXPECT_EQ(seen.outcome, Outcome::kOk) << seen.reason.text;
  EXPECT_EQ(std::get<DnsFacts>(seen.facts).answer_time, 290ms);
}

/// Time passes while it reads them, so that others have their turn and the deadline ends it.
SIM_TEST_SEEDS(DnsProbe, AFloodIsReadAtAPace, 3) {
  SimRuntime& host = sim.host("us");
  host.answer_datagrams([](const DatagramTarget&, const std::string&) {
    return Answers(100'000, {1ms, "12345678"});
  });
  const Observation seen = ask(sim, host);
  EXPECT_EQ(seen.outcome, Outcome::kUnknown);
  EXPECT_EQ(seen.ended - seen.begun, 900ms);
  EXPECT_LT(seen.cost.bytes_in, 8U * 20'000);
}

SIM_TEST_SEEDS(DnsProbe, ALostDatagramIsSentAgainAndSilenceEndsByTheDeadline, 5) {
  SimRuntime& host = sim.host("us");
  int sent = 0;
  host.answer_datagrams([&](const DatagramTarget&, const std::string& query) -> Answers {
    if (++sent == 1) return {};
    return {{1ms, reply_to(query)}};
  });
  const Observation second = ask(sim, host);
  EXPECT_EQ(second.outcome, Outcome::kOk);
  EXPECT_EQ(std::get<DnsFacts>(second.facts).tries, 2U);

  host.answer_datagrams([](const DatagramTarget&, const std::string&) { return Answers(); });
  const Observation silent = ask(sim, host);
  EXPECT_EQ(silent.outcome, Outcome::kFail);
  EXPECT_EQ(silent.reason.text, "udp:ns:53: no answer to 3 datagrams: timed out");
  EXPECT_EQ(silent.ended - silent.begun, 900ms);
}

/// Answers one query over TCP.
runtime::Task<void> serve_tcp(SimRuntime* host) {
  auto listener = host->listen(Endpoint::tcp("ns", 53));
  check(listener.has_value(), "no listener");
  auto stream = co_await (*listener)->accept();
  std::string query;
  while (query.size() < 2 || query.size() < 2U + static_cast<unsigned char>(query[1])) {
    std::array<char, 512> room;
    const auto got = co_await (*stream)->read_some(room, host->deadline_in(1h));
    if (!got) co_return;
    query.append(room.data(), *got);
  }
  const std::string reply = reply_to(query.substr(2));
  const std::string framed = std::string{'\0', static_cast<char>(reply.size())} + reply;
  for (const char byte : framed) {
    const std::string_view one(&byte, 1);
    static_cast<void>(co_await (*stream)->write(one, host->deadline_in(1h)));
  }
  co_await host->sleep_until(TimePoint::max());
}

SIM_TEST_SEEDS(DnsProbe, WhatDoesNotFitComesOverTcp, 10) {
  SimRuntime& host = sim.host("us");
  SimRuntime& server = sim.host("ns");
  const Curfew ends(server);
  server.spawn("server", serve_tcp(&server));
  host.answer_datagrams([](const DatagramTarget&, const std::string& query) -> Answers {
    return {{1ms, reply_to(query, true)}};
  });
  const Observation seen = ask(sim, host);
  EXPECT_EQ(seen.outcome, Outcome::kOk) << seen.reason.text;
  EXPECT_TRUE(std::get<DnsFacts>(seen.facts).over_tcp);
  EXPECT_EQ(std::get<DnsFacts>(seen.facts).answers.size(), 1U);
}

SIM_TEST_SEEDS(DnsProbe, TheServerOfResolvConf, 1) {
  SimRuntime& host = sim.host("us");
  const auto look = [&] {
    const auto probe = observe::make_dns_probe(host, "dns", {{"name", "a.example"}});
    return run_task(sim, host, (*probe)->look(host.deadline_in(900ms)));
  };
  EXPECT_EQ(look().outcome, Outcome::kUnknown) << "no file";
  host.files().put("/etc/resolv.conf", "# nameserver 1.1.1.1\nsearch x\nnameserver  10.0.0.53\n");
  host.answer_datagrams([](const DatagramTarget& to, const std::string& query) -> Answers {
    EXPECT_EQ(to.host, "10.0.0.53");
    return {{1ms, reply_to(query)}};
  });
  EXPECT_EQ(look().outcome, Outcome::kOk);
}

SIM_TEST_SEEDS(DnsProbe, ParametersThatDoNotGoTogether, 1) {
  SimRuntime& host = sim.host("us");
  const auto makes = [&](Params params) {
    params.emplace("name", "a.example");
    return observe::make_dns_probe(host, "dns", params).has_value();
  };
  EXPECT_TRUE(makes({{"rcode", "nxdomain"}}));
  EXPECT_FALSE(makes({{"rcode", "GOOD"}}));
  EXPECT_FALSE(makes({{"type", "ANY"}}));
  EXPECT_FALSE(makes({{"only", true}}));
  EXPECT_FALSE(makes({{"name", "a..b"}}));
  EXPECT_FALSE(makes({{"server", "/run/x"}}));
}

/// A host that answers each request after `after`, but for those that `loses` names.
SimRuntime::DatagramPeer echo(Duration after, std::vector<char> loses = {}) {
  return [=](const DatagramTarget& to, const std::string& request) -> Answers {
    EXPECT_EQ(to.protocol, DatagramTarget::Protocol::kPing);
    for (const char lost : loses) {
      if (request[7] == lost) return {};
    }
    std::string reply = request;
    reply[0] = to.host.contains(':') ? '\x81' : '\0';
    return {{after, reply}};
  };
}

Observation ping(World& sim, SimRuntime& host, Params params = {}) {
  params.emplace("host", "10.0.0.1");
  const auto probe = observe::make_ping_probe(host, "ping", params);
  check(probe.has_value(), probe ? "" : probe.error().describe());
  return run_task(sim, host, (*probe)->look(host.deadline_in(1s)));
}

SIM_TEST_SEEDS(PingProbe, RoundTripsOfBothFamilies, 3) {
  SimRuntime& host = sim.host("us");
  host.answer_datagrams(echo(5ms));
  for (const char* const address : {"10.0.0.1", "fd00::1"}) {
    const Observation seen = ping(sim, host, {{"host", address}});
    EXPECT_EQ(seen.outcome, Outcome::kOk) << seen.reason.text;
    const auto& facts = std::get<PingFacts>(seen.facts);
    EXPECT_EQ(facts.received, 3U);
    EXPECT_EQ(facts.mean, 5ms);
    EXPECT_EQ(seen.ended - seen.begun, 205ms) << "two pauses, and the last answer";
  }
}

SIM_TEST_SEEDS(PingProbe, LossesSilenceAndSlowness, 1) {
  SimRuntime& host = sim.host("us");
  host.answer_datagrams(echo(5ms, {1}));
  const Observation lost = ping(sim, host);
  EXPECT_EQ(lost.outcome, Outcome::kWarn);
  EXPECT_EQ(lost.reason.text, "10.0.0.1: 1 of 3 requests without an answer");
  EXPECT_EQ(lost.ended - lost.begun, 1s) << "it waited for it";
  host.answer_datagrams(echo(5ms, {0, 1, 2}));
  const Observation silent = ping(sim, host);
  EXPECT_EQ(silent.outcome, Outcome::kFail);
  EXPECT_EQ(silent.reason.code, ReasonCode::kUnreachable);
  host.answer_datagrams(echo(150ms));
  EXPECT_EQ(ping(sim, host, {{"fail_rtt", Duration(100ms)}}).outcome, Outcome::kFail);
  EXPECT_EQ(ping(sim, host).outcome, Outcome::kOk) << "answers that overlap requests count";
}

SIM_TEST_SEEDS(PingProbe, RepliesOfOthersAndDoublesDoNotCount, 1) {
  SimRuntime& host = sim.host("us");
  host.answer_datagrams([](const DatagramTarget&, const std::string& request) -> Answers {
    std::string reply = request;
    reply[0] = '\0';
    std::string other = reply;
    other.back() = static_cast<char>(other.back() ^ 1);
    std::string ahead = reply;
    ahead[7] = 99;
    return {{1ms, other}, {1ms, ahead}, {2ms, reply}, {2ms, reply}};
  });
  const Observation seen = ping(sim, host);
  EXPECT_EQ(std::get<PingFacts>(seen.facts).received, 3U);
  EXPECT_EQ(std::get<PingFacts>(seen.facts).mean, 2ms);
}

SIM_TEST_SEEDS(PingProbe, AFloodOfOtherRepliesHidesNoAnswer, 1) {
  SimRuntime& host = sim.host("us");
  bool answers_too = true;
  host.answer_datagrams([&](const DatagramTarget&, const std::string& request) -> Answers {
    std::string reply = request;
    reply[0] = '\0';
    std::string other = reply;
    other.back() = static_cast<char>(other.back() ^ 1);
    Answers answers(3000, {1ms, other});
    if (answers_too) answers.push_back({200ms, reply});
    return answers;
  });
  EXPECT_EQ(ping(sim, host).outcome, Outcome::kOk);
  answers_too = false;
  const Observation lost = ping(sim, host);
  EXPECT_EQ(lost.outcome, Outcome::kUnknown) << "the answers may have been pushed out";
  EXPECT_EQ(lost.reason.code, ReasonCode::kOverLimit) << lost.reason.text;
}

SIM_TEST_SEEDS(PingProbe, WithoutPermissionItSaysWhatToDo, 1) {
  SimRuntime& host = sim.host("us");
  host.refuse_ping(true);
  const Observation seen = ping(sim, host);
  EXPECT_EQ(seen.outcome, Outcome::kUnknown);
  EXPECT_EQ(seen.reason.code, ReasonCode::kDenied);
  EXPECT_TRUE(seen.reason.text.contains("net.ipv4.ping_group_range")) << seen.reason.text;
}

}  // namespace
}  // namespace wardmote::sim
