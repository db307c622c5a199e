#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>

#include "base/time.h"
#include "runtime/stream.h"
#include "sim/parking.h"

namespace wardmote::sim {

class SimNetwork;

/// A simulated connection: both kernels' view of it. Kept alive by its streams and by what is on
/// the way.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  using Side = std::size_t;  ///< 0 the one who connected, 1 the one who accepted

  Connection(SimNetwork& network, std::uint64_t id, SimRuntime& connecting, SimRuntime& accepting);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection();

  /// As much of `bytes` as fits into the buffers.
  std::size_t send(Side from, std::string_view bytes);
  /// What has arrived, up to `most` bytes.
  std::string receive(Side at, std::size_t most);
  /// The application closes its end.
  void close(Side at);
  /// The kernel drops its end and tells the peer, as far as the network lets it.
  void reset(Side at);
  /// The kernel has lost its end and tells nobody.
  void forget(Side at);

  /// A connection that its own application or a reset has ended.
  [[nodiscard]] bool dead(Side at) const noexcept { return ends_[at].reset || !ends_[at].open; }
  /// The peer has closed and all it sent was read.
  [[nodiscard]] bool at_end(Side at) const noexcept {
    return ends_[at].fin && ends_[at].arrived.empty();
  }
  [[nodiscard]] SimRuntime& host(Side side) const noexcept { return *ends_[side].host; }
  Parking& readable(Side at) noexcept { return ends_[at].readable; }
  Parking& writable(Side at) noexcept { return ends_[at].writable; }

  const std::uint64_t id;

 private:
  struct Segment {
    std::string bytes;  ///< empty: the end (FIN)
    TimePoint due;
  };
  struct End {
    explicit End(SimRuntime& on) : host(&on), readable(on), writable(on) {}

    SimRuntime* host;
    Parking readable;
    Parking writable;
    std::string arrived;
    std::deque<Segment> on_the_way;  ///< to here
    Duration patience{};             ///< until a segment that did not pass is sent again
    bool moving = false;             ///< an arrival is scheduled
    bool open = true;                ///< the application has not closed
    bool known = true;               ///< to the kernel
    bool reset = false;
    bool fin = false;
  };

  static Side peer(Side side) noexcept { return 1 - side; }
  [[nodiscard]] std::size_t room_towards(Side to) const noexcept;
  void put(Side to, std::string bytes);
  void schedule_arrival(Side to, TimePoint at);
  void arrive(Side to);
  void deliver(Side to);
  void send_reset(Side to);
  void end_by_reset(Side at);

  SimNetwork* network_;
  std::array<End, 2> ends_;
};

/// The stream of one side.
class SimStream final : public runtime::Stream {
 public:
  SimStream(std::shared_ptr<Connection> connection, Connection::Side side)
      : connection_(std::move(connection)), side_(side) {}
  ~SimStream() override { connection_->close(side_); }

  runtime::Task<Result<std::size_t>> read_some(std::span<char> into,
                                               runtime::Deadline deadline) override;
  runtime::Task<Result<void>> write(std::string_view bytes, runtime::Deadline deadline) override;
  void close() noexcept override { connection_->close(side_); }

 private:
  std::shared_ptr<Connection> connection_;
  Connection::Side side_;
};

}  // namespace wardmote::sim
