#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "act/reconcile/kube_client.h"
#include "act/reconcile/kube_login.h"
#include "act/reconcile/options.h"
#include "act/reconcile/target.h"
#include "judge/reconcile/object_id.h"
#include "judge/reconcile/report.h"
#include "runtime/deadline.h"
#include "runtime/file_tree.h"
#include "runtime/http_client.h"
#include "runtime/runtime.h"
#include "runtime/task.h"

namespace wardmote::act::reconcile {

/// Whether a file of the folder is read: other files are no manifests.
bool is_manifest(std::string_view path);

/// The name under which fields are owned. It never changes, or nothing of before would be ours.
std::string field_manager(const std::string& set);

/// What is remembered from pass to pass, so that an object which the server writes in another form
/// than its manifest is not applied each time.
using Settled =
    std::map<judge::reconcile::ObjectId, std::pair<std::string, std::string>>;  ///< version, digest

/// The objects of one kube-apiserver. Life cycle: what it borrows outlives it. Thread: the core
/// loop.
class KubeTarget final : public Target {
 public:
  KubeTarget(runtime::Runtime& runtime, runtime::HttpClient& http, runtime::FileTree& files,
             KubeSetOptions options)
      : runtime_(runtime),
        client_(runtime, http, KubeLogin(files, options.login)),
        options_(std::move(options)) {}

  runtime::Task<judge::reconcile::PassReport> pass(std::vector<runtime::TreeFile> wanted, bool dry,
                                                   runtime::Deadline deadline) override;

 private:
  runtime::Runtime& runtime_;
  KubeClient client_;
  const KubeSetOptions options_;
  Settled settled_;
};

}  // namespace wardmote::act::reconcile
