#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "act/failover/replica.h"
#include "base/result.h"
#include "base/time.h"
#include "cli/ocf/parameters.h"

namespace wardmote::cli::ocf {

/// Kills an ovsdb-server and the process that watches over it (`--monitor`), which would start it
/// again. Does nothing when the number belongs to another process by now.
void kill_server(const act::failover::ProcessId& server);

/// Whether a process of that name has the number in the pid file.
bool runs(const std::string& pid_file, const std::string& name);

/// When the database was written last, by its own records; nothing when there is no file.
std::optional<WallTime> changed_at(const std::string& database);

/// Whether so many more copies of the database fit beside it. ovsdb-server keeps its own in the
/// same file until it compacts it, and a backup whose disk becomes full while it copies ends empty
/// and writable.
Result<void> enough_room(const std::string& database, int copies);

/// Why a database can hardly be written any more; empty while there is room.
std::string short_of_room(const std::string& database);

/// Copies the database aside as `<database>.before-sync.<time>`, and keeps it
/// and the two that have the latest time. Returns where.
Result<std::string> copy_aside(const std::string& database, WallTime now);

/// What `ovn-ctl` reads when it is run by hand: the source of a backup. An error is not reported,
/// because nothing of ours reads it.
void write_active_conf(const Parameters& parameters, const std::string& database,
                       const std::string& source);
void remove_active_conf(const Parameters& parameters, const std::string& database);

/// Tells a running wardmoted what became of an action, by a datagram to the socket of a reporter
/// (docs/reporters.md). Where nobody listens, nobody is told.
void report(const Parameters& parameters, bool live, bool ready, const std::string& detail);

}  // namespace wardmote::cli::ocf
