#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "cli/command.h"
#include "judge/raft/assess.h"

namespace wardmote::cli {

/// One `--member NAME=CTL[,OVSDB]`.
struct MemberSpec {
  std::string name;
  std::string control;
  std::string ovsdb;  ///< may be empty
  friend bool operator==(const MemberSpec&, const MemberSpec&) = default;
};

Result<MemberSpec> parse_member_spec(std::string_view text);

/// What `assess ovn` was told to do.
struct AssessPlan {
  std::vector<MemberSpec> members;  ///< names are unique
  judge::raft::Expectation expectation;
  Duration total{};  ///< zero: one look
  Duration every{};
  Duration timeout{};
};

/// kInvalid says which option is wrong.
Result<AssessPlan> assess_plan(const Call& call);

}  // namespace wardmote::cli
