#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/time.h"
#include "judge/etcd/cluster.h"
#include "judge/etcd/member_facts.h"
#include "judge/finding.h"
#include "judge/outcome.h"

namespace wardmote::judge::etcd {

/// Three members of one cluster; the first leads.
class EtcdClusterTest : public ::testing::Test {
 protected:
  EtcdClusterTest() {
    for (std::uint64_t i = 0; i < 3; ++i) views_.push_back(member(i));
  }

  static std::uint64_t id(std::uint64_t i) { return 0x8e9e05c52164694d + (i << 60); }

  static MemberView member(std::uint64_t i) {
    MemberView view;
    view.name = "etcd-" + std::to_string(i);
    view.reason = {};
    MemberFacts& facts = view.facts.emplace();
    facts.cluster_id = 0xcdf818194e3a8c32;
    facts.member_id = id(i);
    facts.name = "m" + std::to_string(i);
    facts.version = "3.4.23";
    facts.leader = id(0);
    facts.term = 2;
    facts.index = facts.applied = 100;
    facts.db_bytes = facts.db_bytes_in_use = 20 << 10;
    for (std::uint64_t j = 0; j < 3; ++j) {
      facts.members.push_back({.id = id(j),
                               .name = "m" + std::to_string(j),
                               .peer_urls = {"http://10.0.0." + std::to_string(j) + ":2380"}});
    }
    return view;
  }

  /// One look after the other, a second apart.
  const Assessment& looks(int count) {
    for (int i = 0; i < count; ++i) {
      now_ += std::chrono::seconds(1);
      for (MemberView& view : views_) view.begun = view.ended = now_;
      last_ = assess(views_, expectation_, memory_, now_);
    }
    return last_;
  }

  void silence(std::size_t member, ReasonCode why) {
    views_[member].facts.reset();
    views_[member].reason = {why, "tcp:10.0.0.1:2379"};
  }
  void no_leader() {
    for (MemberView& view : views_) {
      if (view.facts) view.facts->leader = 0;
    }
  }
  [[nodiscard]] const Finding* find(Code code) const {
    const auto found = std::ranges::find(last_.findings, code, &Finding::code);
    return found == last_.findings.end() ? nullptr : &*found;
  }
  [[nodiscard]] std::vector<Code> codes() const {
    std::vector<Code> codes;
    for (const Finding& finding : last_.findings) codes.push_back(finding.code);
    return codes;
  }

  std::vector<MemberView> views_;
  Expectation expectation_;
  Memory memory_;
  TimePoint now_{};
  Assessment last_;
};

}  // namespace wardmote::judge::etcd
