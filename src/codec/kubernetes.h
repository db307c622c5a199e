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
  std::string name;  ///< unique in its namespace
  /// the namespace; that of the object, or `default` when the object has none
  std::string space;
  std::string kind;         ///< of the object: `Node`
  std::string version;      ///< of its API: `v1`, `apps/v1`
  std::string object;       ///< its name
  bool namespaced = false;  ///< whether the object has the namespace `space`
  std::string uid;          ///< of the object; empty: unknown
  std::string reason;       ///< in CamelCase: `RaftNoQuorum`
  std::string message;
  bool warning = false;
  WallTime first;
  WallTime last;
  std::string component;  ///< which program reports it
  std::string instance;   ///< on which node
  std::string notice;     ///< the key of the last notice for it
};

/// The body of `POST /api/v1/namespaces/SPACE/events`.
std::string format_kubernetes_event(const KubernetesEvent& event);

/// The state of an existing event that a repetition needs.
struct KubernetesEventState {
  std::string resource_version;
  std::int64_t count = 0;
  std::string notice;  ///< empty: another program wrote the event
};

/// kProtocol: not an event.
Result<KubernetesEventState> parse_kubernetes_event(std::string_view body);

/// The body of a `PATCH` (application/merge-patch+json) that increases the count of the event, if
/// nobody changed the event since `state` was read.
std::string format_kubernetes_repeat(const KubernetesEvent& event,
                                     const KubernetesEventState& state);

/// The message of a Status object, which says why a request was refused; `body` itself when it is
/// not one.
std::string kubernetes_message(std::string_view body);

/// As metav1.Time has it, in whole seconds: `2026-11-25T10:00:00Z`.
std::string kubernetes_time(WallTime at);

/// Whether most objects may have this name: an RFC 1123 subdomain, `ctl-1.example.org`.
bool is_kubernetes_name(std::string_view text) noexcept;

}  // namespace wardmote::codec
