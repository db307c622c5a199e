#pragma once

#include <string_view>

#include "base/result.h"
#include "judge/outcome.h"

namespace wardmote::observe::ovn {

/// observe::reason_of(), which also understands ovsdb-server's text in a kRejected error: `unknown
/// cluster` is kUnknownCluster, `"cluster/status" is not a valid command` is kNotClustered (no raft
/// database was ever opened there).
judge::Reason reason_of_reply(const Error& error);

/// The same from the output of a failed command (`ovn-appctl`, `ovsdb-client`).
judge::Reason reason_of_output(std::string_view output);

/// The same from a command that may have run on another host (`ssh`, `kubectl exec`) and ended with
/// `status`. Only texts of `ovn-appctl` or `ovsdb-client` themselves, or their end by SIGALRM
/// (`-T`), say something about the server. Any other failure is kRejected, which proves nothing.
judge::Reason reason_of_exit(int status, std::string_view output);

/// The same when such a command could not be run to its end: no answer by the deadline is
/// kUnreachable (perhaps only the way is slow), a command that does not start is kDenied.
judge::Reason reason_of_run(std::string_view program, const Error& error);

/// The same from the failure of a Runner (client.h), whose kRejected has the output of the command.
judge::Reason reason_of_command(const Error& error);

}  // namespace wardmote::observe::ovn
