#pragma once

#include "codec/ovsdb.h"
#include "codec/raft_status.h"
#include "judge/raft/opinion.h"

namespace wardmote::observe::ovn {

/// Converts what OVN reports into the types of judge/raft. An unknown word becomes kUnknown (or
/// Phase::kOther).
judge::raft::Status to_status(codec::RaftStatus message);
judge::raft::Local to_local(const codec::ServerRow& row);
/// From the `model` column; kUnknown for an unknown word.
judge::raft::Mode to_mode(const codec::ServerRow& row) noexcept;

}  // namespace wardmote::observe::ovn
