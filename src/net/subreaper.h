#pragma once

#include <sys/types.h>

#include <boost/asio/posix/basic_stream_descriptor.hpp>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "base/time.h"
#include "net/boot_timer.h"
#include "net/core.h"

namespace wardmote::net {

/// Kills the processes that a program leaves behind, also a daemon (setsid, two forks) that has
/// left the process group. From the first use on, orphans below this process become its children
/// (PR_SET_CHILD_SUBREAPER). A variable in the environment, which children inherit, says which run
/// they belong to. These processes are spared, because it is not certain which run they belong to:
/// an orphan without the variable while a run is under way; and all orphans without it when this
/// process had children before, is the first process of a pid namespace, or has run programs that
/// may leave daemons. A process with an empty environment is checked again for some seconds,
/// because a process in the middle of execve has none. Life cycle: `core` outlives it. Thread: the
/// loop's.
class Subreaper : public std::enable_shared_from_this<Subreaper> {
 public:
  explicit Subreaper(Core& core) : core_(&core) {}
  Subreaper(const Subreaper&) = delete;
  Subreaper& operator=(const Subreaper&) = delete;
  ~Subreaper() = default;

  /// Call before a program is started: returns the number of its run, or 0 when it may leave a
  /// daemon.
  std::uint64_t begin(bool ends_family);
  /// `NAME=VALUE` for the environment of the program; without a value for run 0.
  [[nodiscard]] static std::string marker(std::uint64_t run);
  /// The program runs, and its caller reaps it.
  void lead(pid_t leader) { leaders_.insert(leader); }
  /// The program has been reaped, or could not be started (0): kills and reaps whatever it left.
  void end(std::uint64_t run, pid_t leader);
  void let_go() noexcept { lets_go_ = true; }
  /// Processes::let_go() was called.
  [[nodiscard]] bool lets_go() const noexcept { return lets_go_; }
  /// Call before this process ends: waits a moment for killed processes, so that none of them
  /// outlives it.
  void finish();

 private:
  static constexpr Duration kFirstPatience = std::chrono::milliseconds(10);
  static constexpr Duration kLongestPatience = std::chrono::seconds(5);
  using Descriptor =
      boost::asio::posix::basic_stream_descriptor<boost::asio::io_context::executor_type>;

  void sweep();
  bool end_orphan(pid_t orphan);
  [[nodiscard]] bool is_over(const std::string& environment) const;
  void bury(pid_t orphan);
  void look_again();

  Core* core_;
  std::uint64_t runs_ = 0;
  std::set<pid_t> leaders_;
  std::set<std::uint64_t> live_;  ///< runs that may leave nothing
  std::map<pid_t, std::unique_ptr<Descriptor>> dying_;
  std::unique_ptr<BootTimer> second_look_;  ///< set while a round is due
  Duration patience_ = kFirstPatience;      ///< until the next second round
  bool lets_go_ = false;
  bool adopts_ = false;
  bool alone_ = false;       ///< every process below this one comes from its runs
  bool keeper_ran_ = false;  ///< a program ran that may leave a daemon
};

}  // namespace wardmote::net
