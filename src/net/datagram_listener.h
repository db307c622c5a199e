#pragma once

#include <boost/asio/local/datagram_protocol.hpp>
#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "base/result.h"
#include "runtime/task.h"

namespace wardmote::net {

/// A unix datagram socket that others send to. Destroying it closes it and removes its file.
/// Thread: the executor's.
class DatagramListener {
 public:
  /// Replaces a file that a dead process has left. kRefused when a process listens there, kDenied,
  /// kMissing (no such folder), kInvalid.
  static Result<std::unique_ptr<DatagramListener>> open(const runtime::Executor& executor,
                                                        const std::string& path);

  DatagramListener(const DatagramListener&) = delete;
  DatagramListener& operator=(const DatagramListener&) = delete;
  ~DatagramListener();

  /// Receives one datagram into `into`, kept alive by the caller. kLimit when it was longer: the
  /// datagram is lost.
  runtime::Task<Result<std::size_t>> receive(std::span<char> into);

 private:
  using Socket = boost::asio::local::datagram_protocol::socket;
  DatagramListener(Socket socket, std::string path);

  Socket socket_;
  std::string path_;
};

}  // namespace wardmote::net
