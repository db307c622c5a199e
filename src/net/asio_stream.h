#pragma once

#include <memory>

#include "base/result.h"
#include "net/core.h"
#include "net/unique_fd.h"
#include "runtime/peer.h"
#include "runtime/stream.h"

namespace wardmote::net {

/// A connected unix or TCP socket on the loop. Tries each operation at once, and waits only when
/// the socket would block.
class AsioStream final : public runtime::Stream {
 public:
  AsioStream(Core& core, Socket socket, runtime::Peer peer = {})
      : core_(&core), socket_(std::move(socket)), peer_(std::move(peer)) {}
  /// For a socket of core.spare, which gets the socket back when the connection has ended.
  AsioStream(Core& core, Socket socket, int spare_family)
      : core_(&core), socket_(std::move(socket)), spare_family_(spare_family) {}
  AsioStream(const AsioStream&) = delete;
  AsioStream& operator=(const AsioStream&) = delete;
  ~AsioStream() override;

  runtime::Task<Result<std::size_t>> read_some(std::span<char> into,
                                               runtime::Deadline deadline) override;
  runtime::Task<Result<void>> write(std::string_view bytes, runtime::Deadline deadline) override;
  void close() noexcept override;
  [[nodiscard]] runtime::Peer peer() const override { return peer_; }
  void write_now(std::string_view bytes) noexcept override;

 private:
  /// Lets other tasks run although the peer always has data.
  [[nodiscard]] bool must_yield() noexcept;

  Core* core_;
  Socket socket_;
  runtime::Peer peer_;
  int spare_family_ = 0;  ///< 0: the socket is not used again
  int immediate_ = 0;     ///< operations in a row that did not wait
  bool asked_ = false;    ///< nothing was read since the last write
};

/// A socket of the loop from a connected or connecting non-blocking `fd` of `family`. kExhausted.
Result<Socket> adopt(Core& core, UniqueFd fd, int family);

/// Takes a socket away from the loop; operations that wait on it are cancelled.
UniqueFd let_go(Socket& socket) noexcept;

/// Cancels all operations of a Socket; for DeadlineQueue.
void cancel_socket(void* socket) noexcept;

}  // namespace wardmote::net
