#pragma once

#include <optional>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "codec/url.h"
#include "judge/etcd/metrics.h"
#include "judge/observation.h"
#include "runtime/deadline.h"
#include "runtime/endpoint.h"
#include "runtime/runtime.h"
#include "runtime/stream.h"
#include "runtime/task.h"

namespace wardmote::observe::etcd {

/// Where a member serves its metrics.
struct MetricsTarget {
  codec::Url url;
  runtime::Endpoint at;  ///< of the host of `url`: TCP, or TLS for https
  friend bool operator==(const MetricsTarget&, const MetricsTarget&) = default;
};

/// Reads the metrics of one member, each time over a new connection. Not at each look: they are
/// some hundred kilobytes, and count since the member began. Life cycle: `runtime` outlives it.
/// Thread: the core loop; one look at a time.
class MetricsClient {
 public:
  MetricsClient(runtime::Runtime& runtime, MetricsTarget target)
      : runtime_(runtime), target_(std::move(target)) {}

  /// Asks if the last answer, or failure, is older than a few seconds. Then what is known: the
  /// answer, or why there is none.
  runtime::Task<judge::etcd::MetricsReport> look(runtime::Deadline deadline);

  /// What the last look cost.
  [[nodiscard]] const judge::Cost& cost() const noexcept { return cost_; }

 private:
  runtime::Task<Result<judge::etcd::Metrics>> ask(runtime::Deadline deadline);
  runtime::Task<Result<judge::etcd::Metrics>> read(runtime::Stream* stream,
                                                   runtime::Deadline deadline);

  runtime::Runtime& runtime_;
  MetricsTarget target_;
  std::optional<judge::etcd::MetricsReport> last_;
  judge::Cost cost_;
};

/// From the text of /metrics. kProtocol when it is malformed, or when it has nothing of etcd.
Result<judge::etcd::Metrics> to_metrics(std::string_view text);

}  // namespace wardmote::observe::etcd
