#pragma once

#include <string>
#include <utility>

#include "act/reconcile/kube_client.h"
#include "act/reconcile/options.h"
#include "act/reconcile/source.h"
#include "base/result.h"
#include "runtime/deadline.h"
#include "runtime/file_tree.h"
#include "runtime/http_client.h"
#include "runtime/runtime.h"
#include "runtime/task.h"

namespace wardmote::act::reconcile {

/// The keys of a ConfigMap are files. Life cycle: what it borrows outlives it.
class ConfigMapSource final : public Source {
 public:
  ConfigMapSource(runtime::Runtime& runtime, runtime::HttpClient& http, runtime::FileTree& files,
                  ConfigMapOptions options)
      : client_(runtime, http, KubeLogin(files, options.login)), options_(std::move(options)) {}

  runtime::Task<Result<SourceFiles>> read(runtime::Deadline deadline) override;
  [[nodiscard]] std::string describe() const override;

 private:
  KubeClient client_;
  const ConfigMapOptions options_;
};

}  // namespace wardmote::act::reconcile
