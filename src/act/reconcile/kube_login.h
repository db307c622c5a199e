#pragma once

#include <string>

#include "act/reconcile/options.h"
#include "base/result.h"
#include "runtime/file_tree.h"
#include "runtime/task.h"

namespace wardmote::act::reconcile {

/// A server, and how one proves to it who one is. All but the first and the last is secret or PEM.
struct KubeAccess {
  std::string server;
  std::string ca;  ///< empty: the system's
  std::string token;
  std::string certificate;
  std::string key;
  std::string space;  ///< the namespace of objects that name none
  friend bool operator==(const KubeAccess&, const KubeAccess&) = default;
};

/// Reads kubeconfig, tokens and certificates as they are now: others renew them. Life cycle:
/// `files` outlives it. Thread: the core loop.
class KubeLogin {
 public:
  KubeLogin(runtime::FileTree& files, KubeLoginOptions options)
      : files_(files), options_(std::move(options)) {}

  /// kInvalid, kMissing, kDenied: what is missing or not supported, without any secret.
  runtime::Task<Result<KubeAccess>> read();

 private:
  runtime::Task<Result<KubeAccess>> read_pod();
  /// `path` is relative to the kubeconfig; empty: `otherwise`.
  runtime::Task<Result<std::string>> read_beside(std::string path, std::string otherwise);

  runtime::FileTree& files_;
  const KubeLoginOptions options_;
};

}  // namespace wardmote::act::reconcile
