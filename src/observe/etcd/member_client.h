#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "judge/etcd/member_facts.h"
#include "judge/observation.h"
#include "observe/etcd/metrics_client.h"
#include "runtime/deadline.h"
#include "runtime/endpoint.h"
#include "runtime/http2_connection.h"
#include "runtime/runtime.h"
#include "runtime/task.h"

namespace wardmote::observe::etcd {

/// Asks one member of an etcd cluster for what it knows itself: Maintenance.Status, and its own
/// list of members. Neither needs a leader or writes anything. The connection stays open; after any
/// failure it is dropped, and if it was closed since the last look, the same look connects again.
/// Every `fresh_every`th look opens a new one, so that a server that accepts none is noticed. With
/// `metrics` it reads those at the same time; what comes of that is no error of the look. Life
/// cycle: `runtime` outlives it. Thread: the core loop; one look at a time.
class MemberClient {
 public:
  MemberClient(runtime::Runtime& runtime, runtime::Endpoint at,
               std::optional<MetricsTarget> metrics = {}, unsigned fresh_every = 10);

  /// Errors of Runtime::connect(); kTimeout, kClosed, kProtocol, kLimit, kRejected (no gRPC, an
  /// error of the server), kDenied.
  runtime::Task<Result<judge::etcd::MemberFacts>> look(runtime::Deadline deadline);

  [[nodiscard]] const runtime::Endpoint& at() const noexcept { return at_; }
  /// What the last look cost.
  [[nodiscard]] const judge::Cost& cost() const noexcept { return cost_; }

 private:
  runtime::Task<void> look_into(Result<judge::etcd::MemberFacts>* into, runtime::Deadline deadline);
  runtime::Task<void> read_metrics(judge::etcd::MetricsReport* into, runtime::Deadline deadline);
  runtime::Task<Result<judge::etcd::MemberFacts>> look_at_status(runtime::Deadline deadline);
  runtime::Task<Result<judge::etcd::MemberFacts>> ask(runtime::Deadline deadline);
  runtime::Task<Result<std::string>> call(std::string path, std::string message,
                                          runtime::Deadline deadline);
  void drop();
  void count_traffic();

  runtime::Runtime& runtime_;
  runtime::Endpoint at_;
  std::string authority_;
  std::optional<MetricsClient> metrics_;
  unsigned fresh_every_;
  std::uint64_t looks_ = 0;
  bool looking_ = false;
  std::unique_ptr<runtime::Http2Connection> connection_;
  judge::Cost cost_;
};

}  // namespace wardmote::observe::etcd
