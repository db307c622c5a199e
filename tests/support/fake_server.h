#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "codec/json_rpc.h"
#include "runtime/endpoint.h"
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
  bool endless = false;  ///< after the first request writes `raw` again and again
  std::size_t step = 0;  ///< write in pieces of so many bytes; 0: at once
  Duration pause = std::chrono::milliseconds(1);  ///< after each piece
  int closes_after = -1;  ///< so many requests of a connection, counting from 1
};

/// A server that answers as told; it stands for an ovsdb-server, good or hostile. Its tasks go into
/// `tasks`, which ends before it.
class FakeServer {
 public:
  FakeServer(runtime::Runtime& runtime, runtime::TaskGroup& tasks, runtime::Endpoint at,
             FakeManners manners);

  [[nodiscard]] int connections() const noexcept { return connections_; }
  /// The raw requests, in order.
  [[nodiscard]] const std::vector<std::string>& requests() const noexcept { return requests_; }
  FakeManners& manners() noexcept { return manners_; }
  /// Writes to every open connection.
  runtime::Task<void> push(std::string bytes);
  /// Closes every open connection.
  void hang_up();
  /// The same, and nobody listens any more; its socket file is gone.
  void leave();

 private:
  runtime::Task<void> accept_all();
  runtime::Task<void> serve(std::shared_ptr<runtime::Stream> stream);
  runtime::Task<bool> send(std::shared_ptr<runtime::Stream> stream, std::string bytes);
  [[nodiscard]] std::string reply_to(const codec::RpcMessage& request) const;

  runtime::Runtime& runtime_;
  runtime::TaskGroup& tasks_;
  runtime::Endpoint at_;
  FakeManners manners_;
  std::unique_ptr<runtime::Listener> listener_;
  std::vector<std::weak_ptr<runtime::Stream>> open_;
  int connections_ = 0;
  std::vector<std::string> requests_;
};

/// Manners of a healthy member: control socket and OVSDB on one server. `status` is the text of
/// cluster/status.
FakeManners healthy_manners(std::string_view status);

/// A select result with one clustered row.
inline constexpr std::string_view kLeaderRow =
    R"([{"rows":[{"model":"clustered","leader":true,"connected":true,"sid":["uuid","dea645fa-f66d-419f-89d2-9ef5ed65767e"],)"
    R"("cid":["uuid","b563dad3-5d5e-4b38-a150-859542fb32c9"],"index":4}]}])";

}  // namespace wardmote::testing
