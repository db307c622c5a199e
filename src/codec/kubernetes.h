#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"

namespace wardmote::codec {

/// An Event of Kubernetes' core/v1, in the form that every release shows in `kubectl get events`
/// and `kubectl describe`: with firstTimestamp, lastTimestamp and count.
struct KubernetesEvent {
  std::string name;         ///< unique in its namespace
  std::string space;        ///< the namespace; that of the object, `default` of one that has none
  std::string kind;         ///< of the object: `Node`
  std::string version;      ///< of its API: `v1`, `apps/v1`
  std::string object;       ///< its name
  bool namespaced = false;  ///< whether the object is in `space`
  std::string uid;          ///< of the object; empty: not known
  std::string reason;       ///< in CamelCase: `RaftNoQuorum`
  std::string message;
  bool warning = false;
  WallTime first;
  WallTime last;
  std::string component;  ///< who tells
  std::string instance;   ///< on which node
  std::string notice;     ///< the key of the notice that it was told with last
};

/// The body of `POST /api/v1/namespaces/SPACE/events`.
std::string format_kubernetes_event(const KubernetesEvent& event);

/// Of an event that is there: what a repetition needs to know.
struct KubernetesEventState {
  std::string resource_version;
  std::int64_t count = 0;
  std::string notice;  ///< empty: somebody else wrote it
};

/// kProtocol: no event.
Result<KubernetesEventState> parse_kubernetes_event(std::string_view body);

/// The body of a `PATCH` (application/merge-patch+json) that counts the event once more, if nobody
/// changed it since `state` was read.
std::string format_kubernetes_repeat(const KubernetesEvent& event,
                                     const KubernetesEventState& state);

/// What a Status object says of why something was refused; `body` itself when it is none.
std::string kubernetes_message(std::string_view body);

/// Whether it may be the name of most objects: an RFC 1123 subdomain, `ctl-1.example.org`.
bool is_kubernetes_name(std::string_view text) noexcept;

}  // namespace wardmote::codec
