#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "act/kubernetes/options.h"
#include "act/reconcile/kube_client.h"
#include "act/reconcile/kube_login.h"
#include "base/result.h"
#include "base/time.h"
#include "codec/kube_node.h"
#include "judge/node_condition.h"
#include "runtime/deadline.h"
#include "runtime/file_tree.h"
#include "runtime/http_client.h"
#include "runtime/runtime.h"
#include "runtime/task.h"
#include "runtime/task_group.h"

namespace wardmote::act::kubernetes {

/// Keeps the conditions of one Node true: a status at once when it changes, all of them with each
/// heartbeat. There is one writer of a condition: whoever finds that somebody else has written his
/// leaves it alone until that one is silent for three heartbeats. Life cycle: start(), then stop()
/// before destruction; what it borrows outlives it. Thread: the core loop.
class NodeConditions {
 public:
  using Source = std::function<std::vector<judge::NodeCondition>()>;

  NodeConditions(runtime::Runtime& runtime, runtime::HttpClient& http,
                 std::unique_ptr<runtime::FileTree> files, NodeConditionsOptions options)
      : runtime_(runtime),
        files_(std::move(files)),
        options_(std::move(options)),
        client_(runtime, http, reconcile::KubeLogin(*files_, options_.login)),
        tasks_(runtime.executor()) {}

  void start(Source source);
  /// Nobody knows what is with the node from now on, and the conditions say so.
  runtime::Task<void> stop();

 private:
  /// Who else writes a condition.
  struct Rival {
    std::string heartbeat;
    TimePoint seen;  ///< when that was new
  };

  runtime::Task<void> keep();
  [[nodiscard]] bool is_due(const std::vector<judge::NodeCondition>& now) const;
  runtime::Task<Result<void>> write(std::vector<judge::NodeCondition> now,
                                    runtime::Deadline deadline);
  runtime::Task<Result<std::vector<codec::KubeCondition>>> read(runtime::Deadline deadline);
  /// Whether the condition is somebody else's.
  bool is_of_another(const codec::KubeCondition& live);
  /// Whether this agent sent it, as far as it remembers.
  [[nodiscard]] bool is_own(const codec::KubeCondition& live) const;
  /// Whether an earlier life of this agent left it, and nobody has renewed it since.
  bool is_left_over(const codec::KubeCondition& live);
  void tell(const Result<void>& written);

  runtime::Runtime& runtime_;
  std::unique_ptr<runtime::FileTree> files_;
  const NodeConditionsOptions options_;
  reconcile::KubeClient client_;
  Source source_;
  std::vector<judge::NodeCondition> written_;  ///< as they were in the last pass
  /// The heartbeats that this agent sent lately, by type. A write may arrive whose answer is lost.
  std::map<std::string, std::vector<std::string>> sent_;
  std::map<std::string, Rival> rivals_;   ///< by type
  std::map<std::string, Rival> orphans_;  ///< by type: of an agent of ours, and of no check here
  std::optional<TimePoint> last_;         ///< when it wrote
  std::string said_;                      ///< why it cannot write, as was said; empty: it can
  runtime::TaskGroup tasks_;
};

}  // namespace wardmote::act::kubernetes
