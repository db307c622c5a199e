#include "codec/domain_stats.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

namespace wardmote::codec {
namespace {

using namespace std::chrono_literals;

// virsh domstats --nowait of libvirt 9.0.
TEST(DomainStats, SumsOverDisksAndInterfaces) {
  const std::vector<StatsField> fields = {
      {"state.state", 1},      {"state.reason", 1},    {"cpu.time", 3'870'000'000},
      {"cpu.user", 5},         {"net.count", 2},       {"net.0.rx.pkts", 100},
      {"net.0.tx.pkts", 7},    {"net.1.tx.pkts", 3},   {"block.count", 2},
      {"block.0.rd.reqs", 4},  {"block.0.wr.reqs", 5}, {"block.0.fl.reqs", 1},
      {"block.0.rd.bytes", 9}, {"block.1.rd.reqs", 10}};
  const DomainStats stats = sum_domain_stats(fields);
  EXPECT_EQ(stats.state, 1U);
  EXPECT_EQ(stats.reason, 1U);
  EXPECT_EQ(stats.cpu, 3870ms);
  EXPECT_EQ(stats.disk_requests, 20U);
  EXPECT_EQ(stats.sent_packets, 10U) << "what others send to it says nothing of it";
}

TEST(DomainStats, WhatIsNotToldIsNotZero) {
  const std::vector<StatsField> fields = {{"state.state", 1}, {"cpu.time", 1}};
  const DomainStats stats = sum_domain_stats(fields);
  EXPECT_EQ(stats.disk_requests, std::nullopt);
  EXPECT_EQ(stats.sent_packets, std::nullopt);
  EXPECT_EQ(sum_domain_stats({}), DomainStats());
}

TEST(DomainStats, OddFieldsDoNoHarm) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  const std::vector<StatsField> fields = {{"", 1},
                                          {".", 1},
                                          {"block", 1},
                                          {"block.", 1},
                                          {"block.x.rd.reqs", 1},
                                          {"block.0.", 1},
                                          {"net.0", 1},
                                          {"net..tx.pkts", 1},
                                          {"cpu.time", kMost},
                                          {"block.0.rd.reqs", kMost},
                                          {"block.1.rd.reqs", 5}};
  const DomainStats stats = sum_domain_stats(fields);
  EXPECT_EQ(stats.cpu, std::nullopt);
  EXPECT_EQ(stats.disk_requests, kMost);
}

}  // namespace
}  // namespace wardmote::codec
