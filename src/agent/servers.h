#pragma once

#include <memory>
#include <vector>

#include "base/result.h"
#include "config/config.h"
#include "runtime/endpoint.h"
#include "runtime/http.h"
#include "runtime/runtime.h"
#include "runtime/task_group.h"

namespace wardmote::agent {

/// The addresses at which the API is served. Life cycle: stop() before destruction; the runtime
/// outlives it. Thread: the core loop.
class Servers {
 public:
  Servers(runtime::Runtime& runtime, runtime::HttpHandler handler,
          runtime::HttpAdmission admission);

  /// Serves what `api` names and is not served yet, and a port that is served already with the TLS
  /// that `api` says. What `api` does not name goes on until retire(). All or nothing: the errors
  /// are those of runtime::HttpServer.
  Result<void> open(const config::Api& api);
  /// Those that `api` does not name answer what they were asked, and end.
  void retire(const config::Api& api);
  /// Ends all within a second: a client that does not read its answer keeps nobody from ending.
  runtime::Task<void> stop();

 private:
  struct Served {
    runtime::Endpoint at;
    std::unique_ptr<runtime::HttpServer> server;
  };

  /// What is served at the host and port, or at the path, of `at`; null when nothing is.
  Served* at_address(const runtime::Endpoint& at);
  Result<Served> serve(const runtime::Endpoint& at);
  /// In the background: no new connections, and what is under way is answered.
  void close(std::vector<Served> servers);

  runtime::Runtime& runtime_;
  const runtime::HttpHandler handler_;
  const runtime::HttpAdmission admission_;
  std::vector<Served> servers_;
  runtime::TaskGroup closing_;
};

}  // namespace wardmote::agent
