#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "codec/ovn_global.h"
#include "codec/sync_status.h"
#include "observe/ovn/rpc_client.h"
#include "runtime/deadline.h"
#include "runtime/endpoint.h"
#include "runtime/runtime.h"
#include "runtime/task.h"

namespace wardmote::act::failover {

/// An address that can never exist in a network (RFC 5737): a backup of it is read-only, and since
/// it never connects, nothing replaces its content. The stock agent uses it too.
inline constexpr std::string_view kNobody = "192.0.2.254";

/// Where one database server of this host is.
struct ReplicaFiles {
  std::string database;  ///< `OVN_Northbound`
  std::string control;
  std::string socket;
  std::string pid;
};

/// How long a server may be silent before it counts as hung.
struct Patience {
  /// A server that answers does so within a millisecond.
  Duration answer = std::chrono::seconds(1);
  /// ovsdb-server has one thread, and is silent for seconds while a backup copies a large database.
  /// So a server whose process computes gets this much.
  Duration busy = std::chrono::seconds(30);
  /// One that waits for a disk.
  Duration disk = std::chrono::seconds(10);
};

/// A process, so that its number cannot be mistaken for that of a later one.
struct ProcessId {
  std::uint32_t pid = 0;
  TimePoint started;
  friend bool operator==(const ProcessId&, const ProcessId&) = default;
};

/// What a server is, as far as it and the kernel say.
struct ReplicaState {
  enum class Life : std::uint8_t {
    kDown,
    kAnswers,
    kHung,    ///< stopped, or silent without computing
    kBusy,    ///< silent and computing, up to the deadline
    kDenied,  ///< we may not ask it
    kNoDoor,  ///< it runs, and its control socket is missing or refuses
    kUnreadable,
  };

  Life life = Life::kDown;
  codec::SyncStatus sync;  ///< of kAnswers
  std::optional<ProcessId> process;
  std::string detail;  ///< why it does not answer, for people

  [[nodiscard]] bool answers() const noexcept { return life == Life::kAnswers; }
  [[nodiscard]] bool active() const noexcept { return answers() && sync.active; }
};

/// One ovsdb-server of this host and its role. A command's reply is never trusted: the state is
/// read again after each one, because ovsdb-server answers some errors as results, and becomes
/// writable by itself when replication fails. Life cycle: `runtime` outlives it. Thread: the core
/// loop.
class Replica {
 public:
  Replica(runtime::Runtime& runtime, ReplicaFiles files, Patience patience = {});

  [[nodiscard]] const ReplicaFiles& files() const noexcept { return files_; }

  /// Asks the server; a silent one is judged by its process.
  runtime::Task<ReplicaState> look(runtime::Deadline deadline);
  /// Makes it writable, and returns when it says so. kRejected with what it says instead.
  runtime::Task<Result<void>> promote(runtime::Deadline deadline);
  /// Makes it a backup of `source`, and returns when it says that it is a backup of that and of
  /// nothing else. `probe` is the inactivity probe to the source in milliseconds.
  runtime::Task<Result<void>> follow(std::string source, std::int64_t probe,
                                     runtime::Deadline deadline);

  /// The global row; nothing in a database without one.
  runtime::Task<Result<std::optional<codec::GlobalRow>>> global(runtime::Deadline deadline);
  /// Writes an epoch and waits for the disk: so a server that cannot write is noticed.
  runtime::Task<Result<void>> stamp(std::uint64_t epoch, std::string node,
                                    runtime::Deadline deadline);
  /// Writes something new and waits for the disk. ovn-northd computes all anew for it (OVN 23.03).
  runtime::Task<Result<void>> check_write(runtime::Deadline deadline);
  /// Lets clients connect at `target`: changes the only row of `Connection`, or adds one.
  runtime::Task<Result<void>> listen(std::string target, std::int64_t probe,
                                     runtime::Deadline deadline);
  /// Lets clients of the network in, at these remotes beside those that it has:
  /// `ptcp:6641:10.0.0.1`, `db:OVN_Northbound,NB_Global,connections` (ovsdb-server(1), `--remote`).
  /// kRejected when it does not have them then.
  runtime::Task<Result<void>> open(std::vector<std::string> remotes, runtime::Deadline deadline);
  /// Lets nobody of the network in at `port`, and none that its rows name, and ends the connections
  /// of those who came in there: who has the address by mistake must not be copied from.
  runtime::Task<Result<void>> close(std::string port, runtime::Deadline deadline);
  /// Of this server, to tell it from others.
  runtime::Task<Result<std::string>> server_id(runtime::Deadline deadline);
  /// The number of cells in all tables (`memory/show`); 0 when it is not known.
  runtime::Task<std::uint64_t> cells(runtime::Deadline deadline);

  /// Its process by the pid file, if that is an ovsdb-server and this one; else, as a pid file may
  /// be lost, the process of this mount namespace that was started with our control socket.
  [[nodiscard]] std::optional<ProcessId> process() const;

 private:
  /// What the kernel says of the server's process.
  struct Pulse {
    ProcessId id;
    char state = '?';
    Duration cpu{};
  };

  // Its process (replica_process.cc).
  [[nodiscard]] std::optional<Pulse> pulse() const;
  [[nodiscard]] std::optional<Pulse> pulse_of(std::uint32_t pid) const;
  [[nodiscard]] std::optional<Pulse> search() const;
  [[nodiscard]] bool same_root(std::uint32_t pid) const;
  [[nodiscard]] bool is_control(std::string_view path, bool here) const;
  [[nodiscard]] std::optional<bool> has_our_control(std::uint32_t pid, bool here) const;

  runtime::Task<Result<std::vector<std::string>>> remotes(runtime::Deadline deadline);
  runtime::Task<Result<std::string>> command(std::string_view method, std::string params,
                                             runtime::Deadline deadline);
  runtime::Task<Result<codec::SyncStatus>> ask(runtime::Deadline deadline);
  runtime::Task<ReplicaState> wait_for_answer(runtime::Deadline deadline);
  [[nodiscard]] std::string hung(const Pulse& pulse, Duration waited, int silences) const;
  [[nodiscard]] runtime::Deadline soon(runtime::Deadline deadline) const;

  runtime::Runtime& runtime_;
  ReplicaFiles files_;
  Patience patience_;
  observe::ovn::RpcClient control_;
  observe::ovn::RpcClient data_;
};

/// Another node's server, before this node copies from it.
struct SourceFacts {
  std::string server_id;
  std::optional<codec::GlobalRow> global;
};

/// kRefused, kUnreachable, kTimeout and others as RpcClient. `runtime` outlives the task.
runtime::Task<Result<SourceFacts>> ask_source(runtime::Runtime* runtime, runtime::Endpoint at,
                                              std::string database, runtime::Deadline deadline);

}  // namespace wardmote::act::failover
