#pragma once

#include <string>
#include <vector>

#include "codec/calico_table.h"
#include "runtime/deadline.h"
#include "runtime/runtime.h"
#include "runtime/task.h"

namespace wardmote::observe::bird {

/// The result of one query as Calico's reader would have it.
struct CalicoReading {
  std::vector<codec::CalicoPeer> peers;
  bool restarting = false;
  std::string error;    ///< in Calico's words; empty when Calico would report no error
  bool panics = false;  ///< Calico would have ended with a stack trace
};

/// Asks `<folder>/calico/bird.ctl`, or `<folder>/bird/bird.ctl` if that file does not exist, as
/// node/pkg/health does: a connection for each query, a timeout of two seconds for each line, and
/// the end of the stream counts as the end of the table. Unlike Calico, all of it ends by
/// `deadline`. `folder` is /var/run.
runtime::Task<CalicoReading> calico_query(runtime::Runtime* runtime, std::string folder,
                                          codec::CalicoTable::Query query, bool ipv6,
                                          runtime::Deadline deadline);

}  // namespace wardmote::observe::bird
