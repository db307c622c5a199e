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
  std::string server;      ///< https://10.0.0.1:6443; empty: that of the agent's own pod
  std::string trust;       ///< a file of CA certificates; empty: the pod's, or the system's
  std::string token_file;  ///< absolute; empty: the pod's
  std::string kind;        ///< of the object that events are about
  std::string version;     ///< of its API
  std::string space;       ///< its namespace; empty: it has none
  std::string object;      ///< its name; empty: the label's value
  std::string name_label;  ///< of the incident
  friend bool operator==(const KubernetesOptions&, const KubernetesOptions&) = default;
};

/// Events of Kubernetes, one for the beginning of an incident and one for its end; a repetition
/// increases the count of the first. The names of Events follow from the incident, and each Event
/// has the key of its last notice, so that a notice that is sent twice is one Event, counted once.
/// An Event that Kubernetes has deleted meanwhile is created again. 401 (after the token was read
/// again) and 403 are retried, because access may be granted later.
class KubernetesChannel final : public Channel {
 public:
  /// The bearer token, as its file has it now, because the kubelet renews it.
  using ReadToken = std::function<Result<std::string>()>;

  /// `options` have a server. `node` is the agent's name: the Node that is meant when the incident
  /// does not have the label.
  KubernetesChannel(runtime::Runtime& runtime, runtime::HttpClient& http, KubernetesOptions options,
                    std::string node, ReadToken read_token)
      : runtime_(runtime),
        http_(http),
        options_(std::move(options)),
        node_(std::move(node)),
        read_token_(std::move(read_token)) {}
  runtime::Task<DeliveryResult> send(judge::notify::Notice notice,
                                     runtime::Deadline deadline) override;

 private:
  using Answer = Result<runtime::HttpResponse>;

  runtime::Task<DeliveryResult> tell(codec::KubernetesEvent event, runtime::Deadline deadline);
  /// Nothing: the Event is gone, or another writer changed it meanwhile.
  runtime::Task<std::optional<DeliveryResult>> repeat(codec::KubernetesEvent event,
                                                      runtime::Deadline deadline);
  runtime::Task<Answer> call(runtime::HttpCall call, runtime::Deadline deadline);
  [[nodiscard]] DeliveryResult meaning(Answer answer) const;
  [[nodiscard]] std::string events_url(const codec::KubernetesEvent& event) const;
  /// The Event of an incident; kInvalid: no label names an object.
  [[nodiscard]] Result<codec::KubernetesEvent> event_of(
      const judge::notify::Notice& notice, const judge::notify::NoticeItem& item) const;

  runtime::Runtime& runtime_;
  runtime::HttpClient& http_;
  KubernetesOptions options_;
  std::string node_;
  ReadToken read_token_;
};

/// `RAFT_NO_QUORUM` as Kubernetes writes reasons: `RaftNoQuorum`.
std::string camel_case(std::string_view code);

}  // namespace wardmote::act::notify
