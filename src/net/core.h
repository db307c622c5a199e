#pragma once

#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>

#include "net/deadline_queue.h"
#include "net/spare_sockets.h"
#include "runtime/task.h"

namespace wardmote::net {

using Socket = boost::asio::basic_stream_socket<boost::asio::generic::stream_protocol,
                                                boost::asio::io_context::executor_type>;

/// What the files of this folder share: the loop, its deadlines and its spare sockets. Life cycle:
/// one for each runtime; it outlives streams, listeners and processes. Thread: the loop's, apart
/// from posting to `context`.
struct Core {
  Core();
  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;
  ~Core() = default;

  runtime::Task<void> sleep_until(TimePoint at);

  boost::asio::io_context context;
  DeadlineQueue deadlines;
  SpareSockets spare;
};

}  // namespace wardmote::net
