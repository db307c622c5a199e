#pragma once

#include <string_view>

#include "base/result.h"
#include "judge/outcome.h"

namespace wardmote::observe::ovn {

/// observe::reason_of(), with the words of ovsdb-server in a kRejected error understood: `unknown
/// cluster` is kUnknownCluster, `"cluster/status" is not a valid command` is kNotClustered (no raft
/// database was ever opened there).
judge::Reason reason_of_reply(const Error& error);

/// The same from what a command (`ovn-appctl`, `ovsdb-client`) printed when it failed.
judge::Reason reason_of_output(std::string_view output);

/// The same from a command that may have run on another host (`ssh`, `kubectl exec`) and ended with
/// `status`. Only the words of `ovn-appctl` or `ovsdb-client` themselves, or their death by alarm
/// (`-T`), tell of the server; that the way to it failed is kRejected, which proves nothing.
judge::Reason reason_of_exit(int status, std::string_view output);

/// The same when such a command could not be run to its end: no answer by the deadline is
/// kUnreachable (the way may be what is slow), one that does not start is kDenied.
judge::Reason reason_of_run(std::string_view program, const Error& error);

/// The same from the failure of a Runner (client.h), whose kRejected carries what the command
/// printed.
judge::Reason reason_of_command(const Error& error);

}  // namespace wardmote::observe::ovn
