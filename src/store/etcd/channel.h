#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "codec/grpc.h"
#include "codec/http2_session.h"
#include "runtime/deadline.h"
#include "runtime/event.h"
#include "runtime/http2_connection.h"
#include "runtime/runtime.h"
#include "runtime/stream.h"
#include "runtime/task.h"
#include "runtime/task_group.h"

namespace wardmote::store::etcd {

/// One connection to one etcd server, for many gRPC calls at the same time. One task receives for
/// all of them and one sends, so a caller that is cancelled breaks nothing. A connection on which
/// nothing arrives for kSilence is dropped. Life cycle: made by open(), closed by close() or when
/// the server goes; its tasks run in the group that it was given, which outlives it. Thread: the
/// core loop.
class Channel : public std::enable_shared_from_this<Channel> {
 public:
  static constexpr Duration kSilence = std::chrono::seconds(60);

  class Call;

  static std::shared_ptr<Channel> open(runtime::Runtime& runtime, runtime::TaskGroup& tasks,
                                       std::unique_ptr<runtime::Stream> stream, std::string scheme,
                                       std::string authority);

  /// Begins a call. `more` are headers for this call. kClosed: the connection takes no more calls;
  /// kLimit: too many at the same time.
  Result<std::unique_ptr<Call>> begin(std::string_view path, codec::HeaderFields more,
                                      std::optional<Duration> left);
  /// Ends it: all calls answer kClosed.
  void close() noexcept;
  [[nodiscard]] bool takes_calls() noexcept;

 private:
  Channel(runtime::Runtime& runtime, runtime::TaskGroup& tasks,
          std::unique_ptr<runtime::Stream> stream, std::string scheme, std::string authority);

  static runtime::Task<void> receive_all(std::shared_ptr<Channel> self);
  static runtime::Task<void> send_all(std::shared_ptr<Channel> self);
  void fail_with(const Error& error);

  runtime::Runtime& runtime_;
  runtime::TaskGroup& tasks_;
  runtime::Http2Connection connection_;
  const std::string scheme_;
  const std::string authority_;
  runtime::Event arrived_;
  runtime::Event to_send_;
  bool unsent_ = false;
  std::optional<Error> broken_;
};

/// One call. Destroying it ends the call; the server is told.
class Channel::Call {
 public:
  Call(std::shared_ptr<Channel> channel, codec::Http2Session::CallId id);
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
  ~Call();

  /// Queues a message. kLimit: the server does not take what was sent before.
  Result<void> send(std::string_view message, bool last);
  /// Waits for the next message; nothing: the call ended, status() says how. kTimeout: none came,
  /// ask again. Others: the connection's. One task at a time.
  runtime::Task<Result<std::optional<std::string>>> next(runtime::Deadline deadline);
  /// After next() has returned nothing.
  [[nodiscard]] Result<codec::GrpcStatus> status() const;
  [[nodiscard]] Channel& channel() noexcept { return *channel_; }

 private:
  /// The next message, if it is there.
  Result<std::optional<std::string>> take();

  std::shared_ptr<Channel> channel_;
  codec::Http2Session::CallId id_;
  codec::GrpcFramer framer_;
  bool checked_ = false;  ///< the headers of the answer are those of a gRPC server
};

}  // namespace wardmote::store::etcd
