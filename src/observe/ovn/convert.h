#pragma once

#include "codec/ovsdb.h"
#include "codec/raft_status.h"
#include "judge/raft/opinion.h"

namespace wardmote::observe::ovn {

/// What OVN says, in the words that raft is judged by. A word that is not known becomes kUnknown
/// (or Phase::kOther).
judge::raft::Status to_status(codec::RaftStatus message);
judge::raft::Local to_local(const codec::ServerRow& row);
/// From the `model` column; kUnknown when it says something new.
judge::raft::Mode to_mode(const codec::ServerRow& row) noexcept;

}  // namespace wardmote::observe::ovn
