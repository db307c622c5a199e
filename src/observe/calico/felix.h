#pragma once

#include <string>

#include "base/result.h"
#include "runtime/deadline.h"
#include "runtime/runtime.h"
#include "runtime/task.h"

namespace wardmote::observe::calico {

/// Felix's health endpoint, as FELIX_HEALTHHOST and FELIX_HEALTHPORT name it.
struct FelixTarget {
  std::string host = "localhost";  ///< IPv6 with or without brackets
  std::string port = "9099";       ///< as it was given; checked when it is used
  /// Follow a redirect to another host, and accept a header of up to 10 MB, as Go does.
  bool as_go = false;
};

/// The status of `GET /<path>` (`liveness`, `readiness`), after up to ten redirects. The header
/// decides; this does not wait for the body. Uses no proxy. kInvalid: the target is not valid, or
/// redirects elsewhere; kRejected: more than ten redirects; else as connect() and kProtocol,
/// kLimit, kClosed, kTimeout.
runtime::Task<Result<int>> felix_status(runtime::Runtime* runtime, FelixTarget target,
                                        std::string path, runtime::Deadline deadline);

}  // namespace wardmote::observe::calico
