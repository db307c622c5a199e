#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "act/reconcile/desired.h"
#include "act/reconcile/kube_client.h"
#include "act/reconcile/kube_login.h"
#include "act/reconcile/kube_watch.h"
#include "act/reconcile/options.h"
#include "act/reconcile/target.h"
#include "codec/kube_api.h"
#include "judge/reconcile/object_id.h"
#include "judge/reconcile/report.h"
#include "runtime/deadline.h"
#include "runtime/file_tree.h"
#include "runtime/http_client.h"
#include "runtime/http_lines.h"
#include "runtime/runtime.h"
#include "runtime/task.h"

namespace wardmote::act::reconcile {

/// Whether a file of the folder is read: other files are no manifests.
bool is_manifest(std::string_view path);

/// The name under which fields are owned. It never changes, or nothing of before would be ours.
std::string field_manager(const std::string& set);

/// The label selector of its objects.
std::string selector_of(const std::string& set);

/// What is remembered from pass to pass, so that an object which the server writes in another form
/// than its manifest is not applied each time.
struct SettledState {
  std::string version;
  std::string digest;       ///< of the manifest
  std::string reordered{};  ///< the list whose order the server keeps; empty: none
};
using Settled = std::map<judge::reconcile::ObjectId, SettledState>;

/// Whether the object is the very one that the last write has left. The server may say in other
/// words what the manifest says, `cpu: "1"` for `cpu: 1000m`.
bool is_settled(const Settled& settled, const DesiredObject& object,
                const boost::json::object& live);

/// The objects of one kube-apiserver. Life cycle: what it borrows outlives it. Thread: the core
/// loop.
class KubeTarget final : public Target {
 public:
  /// `lines` null: it never watches.
  KubeTarget(runtime::Runtime& runtime, runtime::HttpClient& http, runtime::HttpLines* lines,
             runtime::FileTree& files, KubeSetOptions options)
      : runtime_(runtime),
        http_(http),
        lines_(lines),
        files_(files),
        client_(runtime, http, KubeLogin(files, options.login)),
        options_(std::move(options)) {}

  runtime::Task<judge::reconcile::PassReport> pass(std::vector<runtime::TreeFile> wanted,
                                                   PassTerms terms) override;
  void watch(const std::function<void()>& drifted) override;
  runtime::Task<void> stop_watching() override;

 private:
  [[nodiscard]] bool is_drift(const WatchedKind& kind, const codec::KubeEvent& event) const;

  runtime::Runtime& runtime_;
  runtime::HttpClient& http_;
  runtime::HttpLines* lines_;
  runtime::FileTree& files_;
  KubeClient client_;
  const KubeSetOptions options_;
  Settled settled_;
  std::map<judge::reconcile::ObjectId, DesiredObject> kept_;  ///< by the last pass
  std::vector<WatchedKind> kinds_;                            ///< that it listed
  std::unique_ptr<KubeWatch> watch_;                          ///< null: it does not watch
};

}  // namespace wardmote::act::reconcile
