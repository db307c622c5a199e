#include "act/reconcile/kube_watch.h"

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "act/reconcile/kube_login.h"
#include "base/result.h"
#include "base/time.h"
#include "codec/kube_api.h"
#include "codec/kube_object.h"
#include "runtime/http_client.h"
#include "runtime/http_lines.h"
#include "runtime/runtime.h"
#include "runtime/task.h"

namespace wardmote::act::reconcile {

using runtime::Task;
using namespace std::chrono_literals;

namespace {

constexpr Duration kTryAgain = 5s;
/// Between two requests of one watch: events that come one by one make no storm of them.
constexpr Duration kPause = 50ms;

}  // namespace

KubeWatch::KubeWatch(runtime::Runtime& runtime, runtime::HttpClient& http,
                     runtime::HttpLines& lines, KubeLogin login, std::string selector)
    : runtime_(runtime),
      lines_(lines),
      client_(runtime, http, std::move(login)),
      selector_(std::move(selector)),
      tasks_(runtime.executor()) {}

void KubeWatch::start(std::vector<WatchedKind> kinds, IsDrift is_drift,
                      std::function<void()> drifted) {
  is_drift_ = std::move(is_drift);
  drifted_ = std::move(drifted);
  for (WatchedKind& kind : kinds) {
    std::string name = "watch " + kind.path;
    tasks_.spawn(std::move(name), follow(std::move(kind)));
  }
}

Task<void> KubeWatch::stop() {
  drifted_ = nullptr;
  return tasks_.stop();
}

bool KubeWatch::take(WatchedKind& kind, const std::vector<codec::KubeEvent>& events) const {
  bool drift = false;
  for (const codec::KubeEvent& event : events) {
    kind.version = codec::read_head(event.object).resource_version;
    drift = drift || (event.kind != codec::KubeEvent::Kind::kBookmark && is_drift_(kind, event));
  }
  return drift;
}

Task<void> KubeWatch::follow(WatchedKind kind) {
  while (drifted_) {
    const Result<void> begun = co_await client_.begin(nullptr);
    Duration pause = kTryAgain;
    if (begun) {
      std::string path = kind.path;
      std::string selector = selector_;
      std::string version = kind.version;
      const auto events =
          co_await client_.watch(&lines_, std::move(path), std::move(selector), std::move(version));
      if (!events && events.error().code == Errc::kMissing) co_return;
      if (events) pause = kPause;
      if (events && take(kind, *events) && drifted_) {
        const auto drifted = std::exchange(drifted_, nullptr);
        drifted();
        co_return;
      }
    }
    co_await runtime_.sleep_until(runtime_.now() + pause);
  }
}

}  // namespace wardmote::act::reconcile
