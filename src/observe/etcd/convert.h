#pragma once

#include "codec/etcd/messages.h"
#include "judge/etcd/member_facts.h"

namespace wardmote::observe::etcd {

/// Texts of the peer are cut.
judge::etcd::MemberFacts to_facts(const codec::etcd::Status& status,
                                  const codec::etcd::MemberList& list);

}  // namespace wardmote::observe::etcd
