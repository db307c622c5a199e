#pragma once

#include <optional>
#include <string>
#include <vector>

#include "config/config.h"
#include "net/asio_runtime.h"
#include "runtime/tls.h"

namespace wardmote::daemon {

/// Why an agent cannot keep what it knows in the folder `data`, and what to do; nothing when it
/// can, or when `data` is empty. Asks for the user that this process is.
std::optional<std::string> folder_problem(const std::string& data);

/// What a valid configuration lacks around it, so that the start would fail: the folder, secrets,
/// groups, certificates. Opens no socket and writes nothing. `tls` may be null: then certificates
/// are not tried.
std::vector<std::string> start_problems(const config::Config& config, net::AsioRuntime& runtime,
                                        runtime::TlsLayer* tls);

}  // namespace wardmote::daemon
