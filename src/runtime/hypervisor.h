#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "runtime/deadline.h"
#include "runtime/task.h"

namespace wardmote::runtime {

/// One guest in a list of the hypervisor. Numbers are those of libvirt (virDomainState and its
/// reasons).
struct GuestEntry {
  std::string uuid;  ///< 36 characters, lower case
  std::string name;
  int run = 0;     ///< virDomainState
  int reason = 0;  ///< of that state
  int id = -1;     ///< of its process: another one after each start; -1: it does not run
};

/// Counters since the guest began; nothing where the hypervisor does not count.
struct GuestCounts {
  std::optional<Duration> cpu;
  std::optional<std::uint64_t> disk_requests;
  std::optional<std::uint64_t> sent_packets;
};

/// How one guest is, and what is being done to it. Numbers are those of libvirt.
struct GuestStanding {
  int run = 0;              ///< virDomainState
  int reason = 0;           ///< of that state
  int id = -1;              ///< of its process; -1: it is off
  bool persistent = false;  ///< it stays defined when it ends
  /// A migration, a save or a backup, or a copy of one of its disks, for people; empty: nothing.
  std::string job;
};

/// What became of one command for a guest's agent.
struct AgentAnswer {
  enum class Kind : std::uint8_t {
    kReply,         ///< `text` is the agent's reply, or the hypervisor's words for its refusal
    kSilent,        ///< the agent was asked, and no reply came
    kDisconnected,  ///< nothing in the guest has the agent's port open
    kNotRunning,
    kGone,  ///< there is no such guest any more
    kBusy,  ///< somebody else's command is under way
    kNoChannel,
  };
  Kind kind = Kind::kSilent;
  std::string text;
};

/// Guests that hang wait in a lane of their own, so that they hold up nobody else.
enum class AgentLane : std::uint8_t { kFast, kSlow };

/// One command for a guest's agent.
struct AgentOrder {
  std::string uuid;
  std::string command;
  Duration timeout{};   ///< that the hypervisor is told
  Duration patience{};  ///< with its answer, from the moment at which it was asked; longer than
                        ///< `timeout`, or its own words for it never arrive
  AgentLane lane = AgentLane::kFast;
  /// Called on the loop once, when the call has ended behind the door and its place there is free
  /// again, which may be long after ask_agent(); never after stop().
  std::function<void()> ended;
};

/// What the hypervisor tells of by itself.
struct HypervisorEvent {
  /// All that was told before counts no more: list the guests again.
  struct Connected {};
  struct Lost {
    Error why;
  };
  /// libvirt's virDomainEventType and its detail.
  struct Lifecycle {
    int event = 0;
    int detail = 0;
  };
  struct Reboot {};
  struct Agent {
    bool connected = false;
  };
  struct Watchdog {
    int action = 0;
  };
  struct IoError {
    int action = 0;
    std::string device;
    std::string reason;
  };
  struct ControlError {};  ///< libvirt has lost its monitor
  struct Migrating {};     ///< a round of it has begun
  struct JobCompleted {};  ///< a migration, a save or a snapshot
  struct Changed {};       ///< its description: read it again

  std::string uuid;  ///< empty: of the hypervisor itself
  std::string name;
  TimePoint at;
  std::variant<Connected, Lost, Lifecycle, Reboot, Agent, Watchdog, IoError, ControlError,
               Migrating, JobCompleted, Changed>
      what;
};

/// What ends or interrupts a guest begins within this time after it was asked for, or never: on
/// older knowledge of it nothing is done.
inline constexpr Duration kActBeginsWithin = std::chrono::seconds(2);

/// The door to the guests of one host. Every call returns by its deadline, also when the hypervisor
/// hangs: the call itself may then go on behind the door, and keeps its place there. A call on one
/// guest holds nothing up for another. Production: net::libvirt::Hypervisor. Tests:
/// sim::FakeHypervisor. Thread: the core loop. Life cycle: stop() before destruction.
///
/// Errors are the hypervisor's own and say nothing of a guest: kTimeout (no answer by the
/// deadline), kClosed and kUnreachable (no connection), kMissing (there is no such guest, or no
/// libvirt on this machine), kDenied, kLimit (too much goes on: it was not asked), kRejected.
class Hypervisor {
 public:
  using Lane = AgentLane;

  Hypervisor() = default;
  Hypervisor(const Hypervisor&) = delete;
  Hypervisor& operator=(const Hypervisor&) = delete;
  virtual ~Hypervisor() = default;

  /// Connects, and again whenever the connection is lost, until stop().
  virtual void start() = 0;
  virtual Task<void> stop() = 0;

  /// Waits for what is told next, in its order: at least one event. When more happens than is kept,
  /// the oldest make room for one more Connected.
  virtual Task<std::vector<HypervisorEvent>> events() = 0;
  /// All guests that run, however they are.
  virtual Task<Result<std::vector<GuestEntry>>> list(Deadline deadline) = 0;
  /// Its description in libvirt's XML.
  virtual Task<Result<std::string>> describe(std::string uuid, Deadline deadline) = 0;
  /// Asks what every hypervisor answers at once; the round trip proves that it answers at all.
  virtual Task<Result<void>> knock(Deadline deadline) = 0;
  /// Sends a command to a guest's agent; never two at once to one guest. `begun_by` is until when
  /// it waits for its turn here: what passes before it says nothing of the guest. kTimeout: the
  /// hypervisor was asked, and has no answer within the patience; kLimit: it was not asked.
  virtual Task<Result<AgentAnswer>> ask_agent(AgentOrder order, Deadline begun_by) = 0;
  /// Reads the counters of one guest. Those of its disks have to be asked of its QEMU (`ask_qemu`):
  /// one that does not run would hold the call for as long, so first see that its CPU time grows.
  virtual Task<Result<GuestCounts>> counts(std::string uuid, bool ask_qemu, Deadline deadline) = 0;

  /// How it is now, and what is being done to it. Asks its QEMU, too.
  virtual Task<Result<GuestStanding>> standing(std::string uuid, Deadline deadline) = 0;

  // What changes a guest. kInvalid: it has another process than `id`, or none, or the hypervisor
  // was reached too late (kActBeginsWithin; who starts a guest may be late), and nothing was done.
  // kRejected: the hypervisor refused, and nobody knows what came of it.
  /// Sends it a non-maskable interrupt.
  virtual Task<Result<void>> inject_nmi(std::string uuid, int id, Deadline deadline) = 0;
  /// Ends its process at once, as pulling its plug does.
  virtual Task<Result<void>> destroy(std::string uuid, int id, Deadline deadline) = 0;
  /// Starts it; kRejected if it runs.
  virtual Task<Result<void>> create(std::string uuid, Deadline deadline) = 0;
};

}  // namespace wardmote::runtime
