#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "codec/json_rpc.h"
#include "net/asio_runtime.h"
#include "runtime/runtime.h"
#include "runtime/task_group.h"

namespace wardmote::testing {

/// How a FakeServer behaves towards whoever connects.
struct FakeManners {
  /// The result for a method, as JSON text; a method that is not here gets the error "unknown
  /// method".
  std::map<std::string, std::string, std::less<>> results;
  /// Instead of results: what is written back for each request, `{ID}` standing for its id; empty:
  /// silence.
  std::string raw;
  std::string greeting;  ///< written right after accept
  bool accepts =
      true;  ///< false: connections stay in the kernel's queue, as with a stopped process
  bool endless = false;   ///< after the first request writes `raw` again and again
  std::size_t step = 0;   ///< write in pieces of so many bytes, one a millisecond; 0: at once
  int closes_after = -1;  ///< so many requests of a connection, counting from 1
};

/// A server on a unix socket that answers as told; it stands for an ovsdb-server, good or hostile.
class FakeServer {
 public:
  FakeServer(runtime::Runtime& runtime, runtime::TaskGroup& tasks, std::string path,
             FakeManners manners);

  [[nodiscard]] int connections() const noexcept { return connections_; }
  /// The raw requests, in order.
  [[nodiscard]] const std::vector<std::string>& requests() const noexcept { return requests_; }
  FakeManners& manners() noexcept { return manners_; }
  /// Writes to every open connection.
  runtime::Task<void> push(std::string bytes);
  /// Closes every open connection.
  void hang_up();
  /// The same, and its socket file is gone.
  void leave();

 private:
  runtime::Task<void> accept_all();
  runtime::Task<void> serve(std::shared_ptr<runtime::Stream> stream);
  runtime::Task<bool> send(std::shared_ptr<runtime::Stream> stream, std::string bytes);
  [[nodiscard]] std::string reply_to(const codec::RpcMessage& request) const;

  runtime::Runtime& runtime_;
  runtime::TaskGroup& tasks_;
  std::string path_;
  FakeManners manners_;
  std::unique_ptr<runtime::Listener> listener_;
  std::vector<std::weak_ptr<runtime::Stream>> open_;
  int connections_ = 0;
  std::vector<std::string> requests_;
};

/// Runs a test's coroutine on the real loop, with a folder for sockets and tasks that end with it.
class OvnWorld {
 public:
  OvnWorld();
  ~OvnWorld();
  OvnWorld(const OvnWorld&) = delete;
  OvnWorld& operator=(const OvnWorld&) = delete;

  net::AsioRuntime& runtime() noexcept { return runtime_; }
  runtime::TaskGroup& tasks() noexcept { return tasks_; }
  [[nodiscard]] std::string path(std::string_view name) const { return (folder_ / name).string(); }
  [[nodiscard]] runtime::Endpoint endpoint(std::string_view name) const {
    return runtime::Endpoint::unix_socket(path(name));
  }
  FakeServer& serve(std::string_view name, FakeManners manners);
  /// Runs `body` to its end, then stops all servers and tasks.
  void run(runtime::Task<void> body);

 private:
  std::filesystem::path folder_;
  net::AsioRuntime runtime_;
  runtime::TaskGroup tasks_;
  std::vector<std::unique_ptr<FakeServer>> servers_;
};

/// Waits until `condition` holds, at most `limit`; says whether it does.
runtime::Task<bool> eventually(runtime::Runtime* runtime, std::function<bool()> condition,
                               Duration limit);

/// Manners of a healthy member: control socket and OVSDB on one server. `status` is the text of
/// cluster/status.
FakeManners healthy_manners(std::string_view status);

/// A select result with one clustered row.
inline constexpr std::string_view kLeaderRow =
    R"([{"rows":[{"model":"clustered","leader":true,"connected":true,"sid":["uuid","dea645fa-f66d-419f-89d2-9ef5ed65767e"],)"
    R"("cid":["uuid","b563dad3-5d5e-4b38-a150-859542fb32c9"],"index":4}]}])";

}  // namespace wardmote::testing
