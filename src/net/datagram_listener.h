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
  /// A file that is left over from a process that is gone is replaced. kRefused when somebody
  /// listens there, kDenied, kMissing (no such folder), kInvalid.
  static Result<std::unique_ptr<DatagramListener>> open(const runtime::Executor& executor,
                                                        const std::string& path);

  DatagramListener(const DatagramListener&) = delete;
  DatagramListener& operator=(const DatagramListener&) = delete;
  ~DatagramListener();

  /// One datagram into `into`, kept alive by the caller. kLimit when it was longer: it is lost.
  runtime::Task<Result<std::size_t>> receive(std::span<char> into);

 private:
  using Socket = boost::asio::local::datagram_protocol::socket;
  DatagramListener(Socket socket, std::string path);

  Socket socket_;
  std::string path_;
};

}  // namespace wardmote::net
