#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "cli/command.h"
#include "judge/raft/assess.h"
#include "observe/ovn/member.h"

namespace wardmote::cli {

/// The options of `assess ovn`.
struct AssessPlan {
  std::vector<observe::ovn::MemberTarget> members;  ///< names are unique
  judge::raft::Expectation expectation;
  Duration total{};  ///< zero: one round
  Duration every{};
  Duration timeout{};
};

/// One `--member NAME=CTL[,OVSDB]`, or `NAME=tcp:HOST:PORT` for one on another host.
Result<observe::ovn::MemberTarget> parse_member(std::string_view text, std::string database);

/// kInvalid names the wrong option.
Result<AssessPlan> assess_plan(const Call& call);

}  // namespace wardmote::cli
