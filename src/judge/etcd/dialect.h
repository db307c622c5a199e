#pragma once

#include "judge/raft/dialect.h"

namespace wardmote::judge::etcd {

/// What judge/raft finds, in the words of etcd and etcdctl.
extern const raft::Dialect kEtcd;

}  // namespace wardmote::judge::etcd
