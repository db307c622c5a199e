#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "runtime/deadline.h"
#include "runtime/endpoint.h"
#include "runtime/event.h"
#include "runtime/runtime.h"
#include "runtime/task.h"
#include "runtime/task_group.h"
#include "store/etcd/channel.h"

namespace wardmote::store::etcd {

struct ClientOptions {
  std::vector<runtime::Endpoint> endpoints;  ///< of the members of one cluster; at least one
  std::string user;                          ///< empty: no user
  /// Is asked each time that the user must say who he is: it may have been changed.
  std::function<Result<std::string>()> password;
  /// For one attempt to connect to one endpoint.
  Duration connect_timeout = std::chrono::seconds(2);
};

/// Calls to an etcd cluster over one connection at a time. Each call asks for a member that has a
/// leader. When the connection, or the member behind it, fails, all that runs on it ends with
/// kClosed and the next call tries the next endpoint. Life cycle: stop() before destruction, after
/// all that use it have ended; `runtime` outlives it. Thread: the core loop.
class Client {
 public:
  /// Whether a call may be made twice, when it is not known what came of the first time.
  enum class Repeat : std::uint8_t { kNever, kSafe };

  Client(runtime::Runtime& runtime, ClientOptions options);
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  /// One message for one message. Errors: those of status.h, of Runtime::connect(), kProtocol,
  /// kLimit. One that is repeated is tried at every endpoint.
  runtime::Task<Result<std::string>> call(std::string path, std::string request, Repeat repeat,
                                          runtime::Deadline deadline);
  /// Begins a call whose messages go on both ways.
  runtime::Task<Result<std::unique_ptr<Channel::Call>>> stream(std::string path,
                                                               runtime::Deadline deadline);
  /// What was begun on this connection has failed: the next call tries the next endpoint.
  void fail_over(const Channel& channel);
  runtime::Task<void> stop() { return tasks_.stop(); }

  /// Where it is connected; null: nowhere.
  [[nodiscard]] const runtime::Endpoint* connected_to() const noexcept;

 private:
  struct Answer {
    Result<std::string> message;
    bool unprocessed = false;  ///< the server has certainly done nothing
    bool stale_token = false;
  };

  runtime::Task<Result<std::shared_ptr<Channel>>> connected(runtime::Deadline deadline);
  runtime::Task<void> connect();
  runtime::Task<Result<std::shared_ptr<Channel>>> authenticated(runtime::Deadline deadline);
  runtime::Task<Answer> ask(std::shared_ptr<Channel> channel, std::string path, std::string request,
                            runtime::Deadline deadline);
  /// The next endpoint, unless the caller was in a hurry, which says nothing about the member.
  void blame(const Channel& channel, const Error& error, TimePoint begun);
  [[nodiscard]] runtime::Deadline one_attempt(runtime::Deadline deadline, Repeat repeat) const;

  runtime::Runtime& runtime_;
  const ClientOptions options_;
  std::size_t at_ = 0;  ///< the endpoint that is connected, or tried next
  std::shared_ptr<Channel> channel_;
  std::uint64_t failures_ = 0;  ///< attempts to connect that have failed
  Error last_failure_;
  bool connecting_ = false;
  bool token_known_ = false;
  std::string token_;
  runtime::Event connect_ended_;
  runtime::TaskGroup tasks_;
};

}  // namespace wardmote::store::etcd
