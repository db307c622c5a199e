#include "act/notify/kubernetes.h"

#include <cstddef>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "act/notify/channel.h"
#include "act/notify/channels.h"
#include "base/format.h"
#include "base/result.h"
#include "base/text.h"
#include "base/time.h"
#include "codec/digest.h"
#include "codec/kubernetes.h"
#include "judge/finding.h"
#include "judge/incident/incident.h"
#include "judge/notify/notice.h"
#include "judge/notify/router.h"
#include "runtime/deadline.h"
#include "runtime/http.h"
#include "runtime/http_client.h"
#include "runtime/task.h"
#include "store/clock_pair.h"

namespace wardmote::act::notify {

using codec::KubernetesEvent;
using codec::KubernetesEventState;
using judge::incident::Incident;
using judge::notify::Notice;
using judge::notify::NoticeItem;
using judge::notify::NoticeKind;
using judge::notify::Refusal;
using runtime::Deadline;
using runtime::HttpCall;
using runtime::HttpResponse;
using runtime::Task;

namespace {

constexpr std::string_view kComponent = "wardmote";
constexpr std::string_view kNode = "Node";
constexpr std::string_view kDefaultSpace = "default";
/// The limit of the newer API (events.k8s.io/v1 `note`): 1 kB.
constexpr std::size_t kLongestMessage = 1024;
constexpr std::size_t kLongestSummary = 640;
constexpr std::size_t kIdDigits = 16;
/// A conflict with another writer of the count is soon over.
constexpr int kRounds = 3;
constexpr int kUnauthorized = 401;
constexpr int kForbidden = 403;
constexpr int kNotFound = 404;
constexpr int kConflict = 409;

std::string_view ending(const NoticeItem& item) {
  switch (item.kind) {
    case NoticeKind::kResolved: return " is over";
    case NoticeKind::kUnwatched: return " is not watched any more";
    case NoticeKind::kBrief: return " came and went";
    case NoticeKind::kOpened:
    case NoticeKind::kChanged:
    case NoticeKind::kOngoing: return "";
  }
  return "";
}

std::string message_of(const NoticeItem& item, const std::string& node) {
  const Incident& incident = item.incident;
  std::string message = fmt::format(
      "{}: {} (incident {} of {}{}{}{})", escape_control(incident.root, 128),
      escape_control(incident.summary, kLongestSummary), incident.id, escape_control(node, 64),
      incident.flapping ? ", flapping" : "", incident.storm ? ", a storm" : "", ending(item));
  return message.size() <= kLongestMessage ? message : escape_control(message, kLongestMessage - 8);
}

}  // namespace

std::string camel_case(std::string_view code) {
  std::string written;
  bool first = true;
  for (const char c : code) {
    if (c == '_') {
      first = true;
      continue;
    }
    const bool upper = c >= 'A' && c <= 'Z';
    written += upper && !first ? static_cast<char>(c - 'A' + 'a') : c;
    first = false;
  }
  return written;
}

Task<DeliveryResult> KubernetesChannel::send(Notice notice, Deadline deadline) {
  // An incident that can never be sent must not keep back the others.
  DeliveryResult worst;
  for (const NoticeItem& item : notice.items) {
    auto event = event_of(notice, item);
    if (!event) {
      worst = std::unexpected(Refusal{true, {}, event.error().context});
      continue;
    }
    DeliveryResult result = co_await tell(*std::move(event), deadline);
    if (result) continue;
    if (!result.error().for_ever) co_return result;
    worst = std::move(result);
  }
  co_return worst;
}

Task<DeliveryResult> KubernetesChannel::tell(KubernetesEvent event, Deadline deadline) {
  for (int round = 0; round < kRounds; ++round) {
    HttpCall create;
    create.url = events_url(event);
    create.headers.emplace_back("Content-Type", "application/json");
    create.body = codec::format_kubernetes_event(event);
    Answer answer = co_await call(std::move(create), deadline);
    if (!answer || answer->status != kConflict) co_return meaning(std::move(answer));
    KubernetesEvent copy = event;
    std::optional<DeliveryResult> repeated = co_await repeat(std::move(copy), deadline);
    if (repeated) co_return *std::move(repeated);
  }
  co_return std::unexpected(
      Refusal{false, {}, "kubernetes: others change the same event all the time"});
}

Task<std::optional<DeliveryResult>> KubernetesChannel::repeat(KubernetesEvent event,
                                                              Deadline deadline) {
  const std::string url = events_url(event) + "/" + event.name;
  HttpCall get;
  get.method = "GET";
  get.url = url;
  Answer there = co_await call(std::move(get), deadline);
  if (there && there->status == kNotFound) co_return std::nullopt;
  if (!there || there->status != 200) co_return meaning(std::move(there));
  const auto state = codec::parse_kubernetes_event(there->body);
  if (!state) {
    co_return DeliveryResult(
        std::unexpected(Refusal{false, {}, "kubernetes: " + state.error().context}));
  }
  // The server took the Event, and the agent died before it knew.
  if (state->notice == event.notice) co_return DeliveryResult();
  HttpCall patch;
  patch.method = "PATCH";
  patch.url = url;
  patch.headers.emplace_back("Content-Type", "application/merge-patch+json");
  patch.body = codec::format_kubernetes_repeat(event, *state);
  Answer done = co_await call(std::move(patch), deadline);
  const bool again = done && (done->status == kConflict || done->status == kNotFound);
  if (again) co_return std::nullopt;
  co_return meaning(std::move(done));
}

Task<KubernetesChannel::Answer> KubernetesChannel::call(HttpCall call, Deadline deadline) {
  call.trust = options_.trust;
  std::string refused;  // the token that was used
  for (;;) {
    auto token = read_token_();
    if (!token) co_return fail(Errc::kMissing, "the token: {}", token.error().describe());
    HttpCall copy = call;
    copy.headers.emplace_back("Authorization", "Bearer " + *token);
    Answer answer = co_await http_.call(std::move(copy), deadline);
    // The kubelet may have renewed the token just now.
    const bool denied = answer && answer->status == kUnauthorized;
    if (!denied || *token == refused) co_return answer;
    refused = *std::move(token);
    const auto now = read_token_();
    if (!now || *now == refused) co_return answer;
  }
}

DeliveryResult KubernetesChannel::meaning(Answer answer) const {
  bool denied = false;
  if (answer) {
    denied = answer->status == kUnauthorized || answer->status == kForbidden;
    answer->body = codec::kubernetes_message(answer->body);
  }
  DeliveryResult result = delivery_result(answer, runtime_.wall_now());
  if (result) return result;
  Refusal refusal = result.error();
  // Somebody may grant a role, or correct the token.
  refusal.for_ever = refusal.for_ever && !denied;
  refusal.reason = "kubernetes: " + refusal.reason;
  return std::unexpected(std::move(refusal));
}

std::string KubernetesChannel::events_url(const KubernetesEvent& event) const {
  return fmt::format("{}/api/v1/namespaces/{}/events", options_.server, event.space);
}

Result<KubernetesEvent> KubernetesChannel::event_of(const Notice& notice,
                                                    const NoticeItem& item) const {
  const Incident& incident = item.incident;
  KubernetesEvent event;
  event.object = options_.object;
  if (event.object.empty()) {
    const auto label = item.labels.find(options_.name_label);
    if (label != item.labels.end()) event.object = label->second;
    if (event.object.empty() && options_.kind == kNode) event.object = node_;
  }
  if (!codec::is_kubernetes_name(event.object)) {
    return fail(Errc::kInvalid, "the label '{}' names no {} of Kubernetes: '{}'",
                options_.name_label, options_.kind, escape_control(event.object, 64));
  }
  const bool over = judge::notify::ends(item.kind);
  const store::ClockPair clock{runtime_.now(), runtime_.wall_now()};
  event.kind = options_.kind;
  event.version = options_.version;
  event.namespaced = !options_.space.empty();
  event.space = event.namespaced ? options_.space : std::string(kDefaultSpace);
  // As the kubelet does, so that `kubectl describe node` finds the Events.
  if (event.kind == kNode) event.uid = event.object;
  event.reason = incident.id == 0 ? "Test" : camel_case(to_string(incident.code));
  if (over) event.reason += item.kind == NoticeKind::kResolved ? "Resolved" : "NotWatched";
  event.warning = !over && incident.severity != judge::Severity::kInfo;
  event.message = message_of(item, node_);
  event.first = clock.wall(over ? incident.resolved.value_or(clock.now) : incident.opened);
  event.last = clock.wall_now;
  event.component = kComponent;
  event.instance = node_;
  event.notice = notice.key();
  const std::string identity = fmt::format("{}\n{}\n{}\n{}\n{}", node_, notice.receiver,
                                           incident.id, incident.root, event.reason);
  const std::string id = codec::hex(codec::sha256(identity)).substr(0, kIdDigits);
  // As long as a name may be, and with no more of the object's name than fits.
  event.name = fmt::format("{}.{}", event.object, id);
  if (!codec::is_kubernetes_name(event.name)) event.name = fmt::format("{}.{}", kComponent, id);
  return event;
}

}  // namespace wardmote::act::notify
