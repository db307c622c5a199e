#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "runtime/deadline.h"
#include "runtime/endpoint.h"
#include "runtime/stream.h"
#include "sim/connection.h"
#include "sim/parking.h"

namespace wardmote::sim {

class World;

/// One way of a path between two hosts.
struct Link {
  Duration delay = std::chrono::microseconds(200);
  Duration jitter{};                   ///< up to this much more, for each segment
  double loss = 0;                     ///< of segments; TCP sends them again, so loss is a stall
  double reset = 0;                    ///< of segments that reset their connection (a middlebox)
  std::uint64_t bytes_per_second = 0;  ///< 0: no limit; small: a drip
  bool cut = false;                    ///< nothing arrives, nobody is told
  bool no_route = false;               ///< connecting is kUnreachable at once
};

/// Streams in memory between simulated hosts, with the manners of TCP: in order, sent again when
/// lost, stalled by a cut and going on when it heals, reset or refused by a kernel that knows
/// nothing of them. Unix sockets are the same on one host, without faults. A TCP host is a host's
/// name; `127.0.0.1`, `::1` and `localhost` are the caller.
class SimNetwork {
 public:
  explicit SimNetwork(World& world) : world_(&world) {}
  SimNetwork(const SimNetwork&) = delete;
  SimNetwork& operator=(const SimNetwork&) = delete;

  /// The settings of one direction, to be changed at will.
  Link& link(const std::string& from, const std::string& to);
  /// What a link that nobody has touched is like.
  Link& every_link() noexcept { return default_link_; }
  void cut_one_way(const std::string& from, const std::string& to) { link(from, to).cut = true; }
  void cut(const std::string& a, const std::string& b);
  /// Cuts a host off from all others, known or to come, but not from itself.
  void isolate(const std::string& name) { isolated_.insert(name); }
  /// Undoes every cut and isolation.
  void heal();

  [[nodiscard]] std::size_t open_connections() const noexcept { return connections_.size(); }

  // For the parts of the simulator.
  runtime::Task<Result<std::unique_ptr<runtime::Stream>>> connect(SimRuntime* from,
                                                                  runtime::Endpoint to,
                                                                  runtime::Deadline deadline);
  Result<std::unique_ptr<runtime::Listener>> listen(SimRuntime& host, const runtime::Endpoint& at);
  /// All connections of a host end with a reset to the peers; its listeners are gone.
  void reset_all(SimRuntime& host);
  /// As reset_all(), but nobody is told.
  void forget_all(SimRuntime& host);
  [[nodiscard]] bool passes(const SimRuntime& from, const SimRuntime& to);
  /// How long a segment takes this time, losses included.
  Duration travel_time(const SimRuntime& from, const SimRuntime& to, std::size_t bytes);
  /// Whether a middlebox resets the connection this time.
  bool resets(const SimRuntime& from, const SimRuntime& to);
  void forget(const Connection& connection) { connections_.erase(connection.id); }
  World& world() noexcept { return *world_; }

 private:
  friend class SimListener;
  struct Attempt;
  struct Address {
    std::string host;
    std::string socket;  ///< a path, or a port in decimal
    auto operator<=>(const Address&) const = default;
  };
  /// Connections that a kernel has made and no process has accepted yet.
  struct Queue {
    Queue(SimRuntime& on, Address address) : host(&on), at(std::move(address)), acceptor(on) {}
    [[nodiscard]] bool full() const noexcept { return waiting.size() >= kBacklog; }

    static constexpr std::size_t kBacklog = 128;
    SimRuntime* host;
    Address at;
    std::deque<std::shared_ptr<Connection>> waiting;
    Parking acceptor;
  };

  static Address address_of(const SimRuntime& from, const runtime::Endpoint& to);
  runtime::Task<Result<std::unique_ptr<runtime::Stream>>> connect_unix(SimRuntime* from, Address to,
                                                                       runtime::Deadline deadline);
  runtime::Task<Result<std::unique_ptr<runtime::Stream>>> connect_tcp(SimRuntime* from, Address to,
                                                                      runtime::Deadline deadline);
  void send_syn(const std::shared_ptr<Attempt>& attempt);
  void answer_syn(const std::shared_ptr<Attempt>& attempt);
  std::shared_ptr<Connection> establish(SimRuntime& from, Queue& queue);
  Queue* listener(const Address& at);
  void drop_listeners(const SimRuntime& host);

  World* world_;
  Link default_link_;
  std::map<std::pair<std::string, std::string>, Link> links_;
  std::set<std::string> isolated_;
  std::map<Address, Queue*> listeners_;
  std::set<Address> left_over_;  ///< socket files without a process
  std::map<std::uint64_t, Connection*> connections_;
  std::uint64_t next_connection_ = 0;
};

}  // namespace wardmote::sim
