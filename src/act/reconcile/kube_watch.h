#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "act/reconcile/kube_catalog.h"
#include "act/reconcile/kube_client.h"
#include "act/reconcile/kube_login.h"
#include "codec/kube_api.h"
#include "runtime/http_client.h"
#include "runtime/http_lines.h"
#include "runtime/runtime.h"
#include "runtime/task.h"
#include "runtime/task_group.h"

namespace wardmote::act::reconcile {

/// A kind whose objects were listed.
struct WatchedKind {
  KindName name;
  std::string path;
  std::string version;  ///< what happens after it was not seen
};

/// Watches the objects of a set, one request for each kind, and says when one of them is no longer
/// as it was left. A watch that ends goes on from where it was; one that cannot go on ends, and the
/// next pass begins another. Life cycle: start() once, then stop() before destruction; what it
/// borrows outlives it. Thread: the core loop.
class KubeWatch {
 public:
  using IsDrift = std::function<bool(const WatchedKind& kind, const codec::KubeEvent& event)>;

  /// `selector`: of the objects of the set.
  KubeWatch(runtime::Runtime& runtime, runtime::HttpClient& http, runtime::HttpLines& lines,
            KubeLogin login, std::string selector);
  /// Before start().
  void act_as(std::optional<KubeActor> actor) { client_.act_as(std::move(actor)); }

  /// `drifted` is called at most once.
  void start(std::vector<WatchedKind> kinds, IsDrift is_drift, std::function<void()> drifted);
  runtime::Task<void> stop();

 private:
  runtime::Task<void> follow(WatchedKind kind);
  /// Whether there is any drift; `kind` goes on after these.
  bool take(WatchedKind& kind, const std::vector<codec::KubeEvent>& events) const;

  runtime::Runtime& runtime_;
  runtime::HttpLines& lines_;
  KubeClient client_;
  const std::string selector_;
  IsDrift is_drift_;
  std::function<void()> drifted_;  ///< empty: it was called
  runtime::TaskGroup tasks_;
};

}  // namespace wardmote::act::reconcile
