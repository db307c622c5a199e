#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "net/sqlite/connection.h"
#include "runtime/database.h"
#include "sim/sim_runtime.h"

namespace wardmote::sim {

/// The disk of a simulated host, which outlives its processes. What SQL does is SQLite's own doing,
/// in memory; what the disk does is ours.
class SimDisk {
 public:
  SimDisk();

  /// How long a commit takes.
  void set_latency(Duration latency) noexcept { latency_ = latency; }
  void set_read_latency(Duration latency) noexcept { read_latency_ = latency; }
  /// Commits fail with this from now on; nothing: they work.
  void fail_with(std::optional<Errc> code) noexcept { fault_ = code; }
  /// The process dies before the `count`th write from now, a transaction's end being one too. It
  /// then waits for ever: the test crashes its host.
  void die_before(std::uint64_t count) noexcept { countdown_ = count; }
  [[nodiscard]] bool died() const noexcept { return died_; }
  /// The dead process is cleared away: its calls end at once, and write nothing.
  void bury() noexcept { buried_ = true; }
  /// A new process begins.
  void restart() noexcept;
  [[nodiscard]] std::uint64_t writes() const noexcept { return writes_; }

  /// For tests to look at what is stored.
  std::vector<runtime::SqlRow> rows(const std::string& sql);

 private:
  friend class SimDatabase;
  bool before_write();

  net::SqliteConnection connection_;
  Duration latency_{};
  Duration read_latency_{};
  std::optional<Errc> fault_;
  std::uint64_t countdown_ = 0;  ///< 0: it does not die
  std::uint64_t writes_ = 0;
  bool died_ = false;
  bool buried_ = false;
};

/// A database on a simulated disk, for one life of one process.
class SimDatabase final : public runtime::Database {
 public:
  SimDatabase(SimRuntime& host, SimDisk& disk) : host_(host), disk_(disk) {}

  runtime::Task<Result<std::vector<runtime::SqlRow>>> read(runtime::SqlStatement statement,
                                                           runtime::Deadline deadline) override;
  runtime::Task<Result<std::vector<runtime::SqlRow>>> transact(
      std::vector<runtime::SqlStatement> statements, runtime::Deadline deadline) override;

 private:
  SimRuntime& host_;
  SimDisk& disk_;
};

}  // namespace wardmote::sim
