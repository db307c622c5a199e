// What one judgement of a healthy cluster costs, whose members have all their connections; the goal
// is < 5 us for three members and < 20 us for nine.

#include <benchmark/benchmark.h>

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "base/format.h"
#include "judge/raft/assess.h"
#include "judge/raft/memory.h"

namespace wardmote::judge::raft {
namespace {

using namespace std::chrono_literals;

MemberId make_id(std::size_t i) {
  return *parse_member_id(
      fmt::format("{:04x}5e84-7b90-4c1b-a3ab-29d6e4f5c{:03x}", 0x4a1f + 0x1357 * i, i));
}

std::string make_address(std::size_t i) {
  return fmt::format("ssl:10.200.1.{}:6643", 11 + i);
}

Opinion make_opinion(std::size_t self, std::size_t size) {
  Status status;
  status.cluster_id = *parse_member_id("b563dad3-5d5e-4b38-a150-859542fb32c9");
  status.server_id = make_id(self);
  status.nickname = short_name(status.server_id);
  status.address = make_address(self);
  status.standing = Standing::kMember;
  status.role = self == 0 ? Role::kLeader : Role::kFollower;
  status.term = 7;
  status.leader = self == 0 ? PeerName{PeerName::Kind::kSelf, {}}
                            : PeerName{PeerName::Kind::kNamed, short_name(make_id(0))};
  status.log_start = 2;
  status.log_next = 20'968;
  for (std::size_t i = 0; i < size; ++i) {
    const std::string name = short_name(make_id(i));
    Server server{.nickname = name,
                  .id = *parse_member_id(name),
                  .address = make_address(i),
                  .self = i == self};
    if (self == 0) server.match_index = status.log_next - 1;
    if (i != self) server.last_message = Milliseconds(self == 0 || i == 0 ? 130 : 425'139);
    status.servers.push_back(std::move(server));
    if (i == self) continue;
    for (const bool outgoing : {false, true})
      status.links.push_back({.peer = name, .outgoing = outgoing, .up = true});
  }
  Opinion opinion;
  opinion.member = fmt::format("ctl-{}", self + 1);
  opinion.mode = Mode::kClustered;
  opinion.status_source.reason.code = ReasonCode::kNone;
  opinion.local_source.reason.code = ReasonCode::kNone;
  opinion.local = Local{.leader = self == 0,
                        .connected = true,
                        .cluster_id = status.cluster_id,
                        .server_id = status.server_id,
                        .index = 20'967};
  opinion.status = std::move(status);
  return opinion;
}

void assess_healthy(benchmark::State& state) {
  const auto size = static_cast<std::size_t>(state.range(0));
  std::vector<Opinion> opinions;
  Expectation expectation{.database = "OVN_Northbound", .addresses = {}, .replicas = size};
  for (std::size_t i = 0; i < size; ++i) {
    opinions.push_back(make_opinion(i, size));
    expectation.addresses.push_back(make_address(i));
  }
  Memory memory;
  TimePoint now{1h};
  for (auto _ : state) {
    now += 1s;
    for (Opinion& opinion : opinions) opinion.begun = opinion.ended = now;
    const Assessment assessment = assess(opinions, expectation, memory, now);
    if (assessment.verdict != Verdict::kOk) state.SkipWithError("not healthy");
    benchmark::DoNotOptimize(assessment.findings.data());
  }
}
BENCHMARK(assess_healthy)->Arg(3)->Arg(5)->Arg(9);

}  // namespace
}  // namespace wardmote::judge::raft

BENCHMARK_MAIN();
