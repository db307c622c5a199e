#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/time.h"
#include "judge/condition/condition.h"
#include "judge/condition/condition_tracker.h"
#include "judge/etcd/member_facts.h"
#include "judge/etcd/metrics.h"
#include "judge/finding.h"
#include "judge/judgement.h"
#include "judge/outcome.h"
#include "judge/raft/assess.h"
#include "judge/raft/memory.h"
#include "judge/raft/opinion.h"
#include "judge/thing.h"
#include "judge/verdict.h"

namespace wardmote::judge::etcd {

inline constexpr ThingKind kEtcdKind("etcd");

/// What one configured member says, or why it says nothing.
struct MemberView {
  std::string name;
  std::optional<MemberFacts> facts;
  Reason reason{ReasonCode::kNotProbed, {}};  ///< when there are no facts
  TimePoint begun;
  TimePoint ended;
};

struct Expectation {
  std::vector<std::string> peer_urls;  ///< empty: no expectation
  std::optional<std::uint64_t> quota;  ///< bytes, where the members do not say it
  friend bool operator==(const Expectation&, const Expectation&) = default;
};

/// Of the metrics of one member.
struct MemberMemory {
  MetricsWindow window;
  bool wal_slow = false;  ///< when its speed was last known
  bool commit_slow = false;
};

/// What must be remembered between two rounds. A value.
struct Memory {
  raft::Memory raft;
  ConditionTracker conditions;
  std::map<std::string, MemberMemory> members;  ///< of whom metrics were asked, by name
};

struct Assessment {
  Verdict verdict = Verdict::kUnknown;
  std::vector<Finding> findings;             ///< most severe first, then by code and subject
  std::vector<Observed> observed;            ///< in the same order
  std::vector<raft::MemberVerdict> members;  ///< in the order of the views
  /// In the same order; nothing: it did not answer, or nobody asks for its metrics.
  std::vector<std::optional<MemberLoad>> loads;
  raft::Quorum quorum;
  std::optional<std::size_t> leader;  ///< index into the views, if it answers
};

/// A member's report in the terms of every raft cluster. A learner is a server that is being added.
raft::Opinion opinion_of(const MemberView& view);

/// Compares what the members say: as every raft cluster by judge/raft, and what only etcd has.
/// Pure.
Assessment assess(std::span<const MemberView> views, const Expectation& expectation, Memory& memory,
                  TimePoint now);

/// One member by itself, as a probe sees it. Pure.
Judgement judge_member(const MemberFacts& facts, std::optional<std::uint64_t> quota);

// detect.cc: what only etcd has.
Conditions detect(std::span<const MemberView> views, const Expectation& expectation);
// detect_metrics.cc: what their metrics show. Notes them, and says in `loads` what they say.
Conditions detect_load(std::span<const MemberView> views, Memory& memory,
                       std::vector<std::optional<MemberLoad>>& loads);
/// How much of its quota the database has, from 0 on; nothing when the quota is not known.
std::optional<double> share_of_quota(const MemberFacts& facts, std::optional<std::uint64_t> quota);

}  // namespace wardmote::judge::etcd
