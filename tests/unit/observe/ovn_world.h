#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "net/asio_runtime.h"
#include "runtime/task_group.h"
#include "support/fake_server.h"

namespace wardmote::testing {

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
  /// The server of that name is gone, and so is its socket file.
  void remove(std::string_view name, FakeServer& server);
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

}  // namespace wardmote::testing
