#pragma once

#include <string>
#include <vector>

#include "codec/calico_table.h"
#include "runtime/deadline.h"
#include "runtime/runtime.h"
#include "runtime/task.h"

namespace wardmote::observe::bird {

/// What Calico's reader makes of one query.
struct CalicoReading {
  std::vector<codec::CalicoPeer> peers;
  bool restarting = false;
  std::string error;    ///< in Calico's words; empty when it had nothing to complain of
  bool panics = false;  ///< it would have ended with a stack trace
};

/// Asks `<folder>/calico/bird.ctl`, or `<folder>/bird/bird.ctl` where that file does not exist, as
/// node/pkg/health does: a connection for each query, two seconds of patience for each line, and
/// the end of the stream taken for the end of the table. All of it ends by `deadline`, which
/// Calico's does not. `folder` is /var/run.
runtime::Task<CalicoReading> calico_query(runtime::Runtime* runtime, std::string folder,
                                          codec::CalicoTable::Query query, bool ipv6,
                                          runtime::Deadline deadline);

}  // namespace wardmote::observe::bird
