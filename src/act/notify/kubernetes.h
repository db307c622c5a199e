#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "act/notify/channel.h"
#include "base/result.h"
#include "codec/kubernetes.h"
#include "judge/notify/notice.h"
#include "runtime/deadline.h"
#include "runtime/http.h"
#include "runtime/http_client.h"
#include "runtime/runtime.h"
#include "runtime/task.h"

namespace wardmote::act::notify {

struct KubernetesOptions {
  std::string server;  ///< https://10.0.0.1:6443, without a slash at its end
  std::string trust;
  /// The bearer token, as its file has it now: the kubelet renews it. Secret.
  std::function<Result<std::string>()> token;
  std::string kind;        ///< of the object that events are about
  std::string version;     ///< of its API
  std::string space;       ///< its namespace; empty: it is in none
  std::string object;      ///< its name; empty: the label's value
  std::string name_label;  ///< of the incident
  std::string node;  ///< how the agent calls itself; the Node that is meant without that label
};

/// Events of Kubernetes, one for the beginning of an incident and one for its end; what is told of
/// it again counts up the first. Their names follow from the incident and each bears the key of its
/// last notice, so that a notice that comes twice is one event, counted once. One that Kubernetes
/// has forgotten in the meantime is made anew. Who is not let in (401, with a token that was read
/// anew, and 403) is tried again.
class KubernetesChannel final : public Channel {
 public:
  KubernetesChannel(runtime::Runtime& runtime, runtime::HttpClient& http, KubernetesOptions options)
      : runtime_(runtime), http_(http), options_(std::move(options)) {}
  runtime::Task<Fate> send(judge::notify::Notice notice, runtime::Deadline deadline) override;

 private:
  using Answer = Result<runtime::HttpResponse>;

  runtime::Task<Fate> tell(codec::KubernetesEvent event, runtime::Deadline deadline);
  /// Nothing: it is gone, or another changed it meanwhile.
  runtime::Task<std::optional<Fate>> repeat(codec::KubernetesEvent event,
                                            runtime::Deadline deadline);
  runtime::Task<Answer> call(runtime::HttpCall call, runtime::Deadline deadline);
  [[nodiscard]] Fate meaning(Answer answer) const;
  [[nodiscard]] std::string events_url(const codec::KubernetesEvent& event) const;
  /// What is told of it; kInvalid: no label names an object.
  [[nodiscard]] Result<codec::KubernetesEvent> event_of(
      const judge::notify::Notice& notice, const judge::notify::NoticeItem& item) const;

  runtime::Runtime& runtime_;
  runtime::HttpClient& http_;
  KubernetesOptions options_;
};

/// `RAFT_NO_QUORUM` as Kubernetes writes reasons: `RaftNoQuorum`.
std::string camel_case(std::string_view code);

}  // namespace wardmote::act::notify
