#pragma once

#include <string>
#include <vector>

#include "cli/init/detect.h"
#include "runtime/deadline.h"
#include "runtime/runtime.h"
#include "runtime/task.h"

namespace wardmote::cli {

/// Looks once at each thing that was found, by the probe of its kind, and fills in what it said.
/// The paths of files and sockets are below `root`. What does not answer says why; nothing is asked
/// after the deadline. `found` and `runtime` outlive the task.
runtime::Task<void> ask_found(std::vector<Found>* found, std::string root,
                              runtime::Runtime* runtime, runtime::Deadline deadline);

}  // namespace wardmote::cli
