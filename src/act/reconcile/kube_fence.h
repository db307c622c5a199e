#pragma once

#include <boost/json/object.hpp>
#include <string>

#include "act/reconcile/kube_client.h"
#include "act/reconcile/kube_writer.h"
#include "act/reconcile/options.h"
#include "act/reconcile/target.h"
#include "base/result.h"
#include "codec/kube_fence.h"
#include "judge/reconcile/fence.h"
#include "runtime/runtime.h"
#include "runtime/task.h"

namespace wardmote::act::reconcile {

/// Has a server refuse what earlier leaders of a set send, deletions included. Life cycle: for one
/// pass; what it borrows outlives it. Thread: the core loop.
class KubeFence {
 public:
  KubeFence(runtime::Runtime& runtime, KubeClient& client, KubeWriter& writer,
            const KubeSetOptions& options, const PassTerms& terms)
      : runtime_(runtime),
        client_(client),
        writer_(writer),
        options_(options),
        terms_(terms),
        names_{options.set, options.inventory_space} {}

  /// Before anything else of a pass. Where the server can check writes, a leader raises the fence
  /// to its token, and has seen the server refuse a lower one; from then on the client asks as the
  /// user whose writes are checked. A dry pass writes nothing, and asks as that user with the token
  /// that stands. The fence itself is written by the account of the agent: each write of it is for
  /// the version that was read, so a late one changes nothing. An error: nothing may be written.
  runtime::Task<Result<judge::reconcile::FenceReport>> put_up();

 private:
  runtime::Task<Result<bool>> has_policies();
  /// `version`: with which it may be written.
  runtime::Task<Result<judge::reconcile::FenceToken>> read_token(std::string* version);
  runtime::Task<Result<void>> raise();
  /// A policy or a binding.
  runtime::Task<Result<void>> keep(std::string path, boost::json::object wanted);
  /// The server refuses an older token; from here on ours is given.
  runtime::Task<Result<void>> prove();
  runtime::Task<Written> apply(std::string path, boost::json::object body, std::string version);

  runtime::Runtime& runtime_;
  KubeClient& client_;
  KubeWriter& writer_;
  const KubeSetOptions& options_;
  const PassTerms& terms_;
  const codec::KubeFenceNames names_;
};

}  // namespace wardmote::act::reconcile
