#pragma once

#include <vector>

#include "judge/raft/assess.h"
#include "judge/raft/picture.h"

namespace wardmote::judge::raft {

/// The judgement on each configured member by this look alone, in the order of the opinions.
/// Damping over time is the business of the check machine.
std::vector<MemberVerdict> judge_members(const Picture& picture);

}  // namespace wardmote::judge::raft
