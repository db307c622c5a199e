#pragma once

#include <memory>

#include "base/result.h"
#include "net/core.h"
#include "runtime/datagrams.h"
#include "runtime/deadline.h"
#include "runtime/task.h"

namespace wardmote::net {

/// As Runtime::open_datagrams().
runtime::Task<Result<std::unique_ptr<runtime::Datagrams>>> open_datagrams(
    Core* core, runtime::DatagramTarget to, runtime::Deadline deadline);

}  // namespace wardmote::net
