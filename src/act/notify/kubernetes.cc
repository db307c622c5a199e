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
#include "base/sha256.h"
#include "base/text.h"
#include "base/time.h"
#include "codec/hmac.h"
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
using judge::notify::Refusal;
using judge::notify::Tidings;
using runtime::Deadline;
using runtime::HttpCall;
using runtime::HttpResponse;
using runtime::Task;

namespace {

constexpr std::string_view kComponent = "wardmote";
constexpr std::string_view kNode = "Node";
constexpr std::string_view kDefaultSpace = "default";
/// Of what the API takes from its newer callers (events.k8s.io/v1 `note`): 1 kB.
constexpr std::size_t kLongestMessage = 1024;
constexpr std::size_t kLongestSummary = 640;
constexpr std::size_t kIdDigits = 16;
/// Whoever counts it up at the same time is done soon.
constexpr int kRounds = 3;
constexpr int kUnauthorized = 401;
constexpr int kForbidden = 403;
constexpr int kNotFound = 404;
constexpr int kConflict = 409;

std::string_view ending(const NoticeItem& item) {
  switch (item.tidings) {
    case Tidings::kEnded: return " is over";
    case Tidings::kCameAndWent: return " came and went";
    case Tidings::kBegan:
    case Tidings::kChanged:
    case Tidings::kStands: return "";
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

Task<Fate> KubernetesChannel::send(Notice notice, Deadline deadline) {
  // One that can never be told of must not keep the others from it.
  Fate worst;
  for (const NoticeItem& item : notice.items) {
    auto event = event_of(notice, item);
    if (!event) {
      worst = std::unexpected(Refusal{true, {}, event.error().context});
      continue;
    }
    Fate fate = co_await tell(*std::move(event), deadline);
    if (fate) continue;
    if (!fate.error().for_ever) co_return fate;
    worst = std::move(fate);
  }
  co_return worst;
}

Task<Fate> KubernetesChannel::tell(KubernetesEvent event, Deadline deadline) {
  for (int round = 0; round < kRounds; ++round) {
    HttpCall create;
    create.url = events_url(event);
    create.headers.emplace_back("Content-Type", "application/json");
    create.body = codec::format_kubernetes_event(event);
    Answer answer = co_await call(std::move(create), deadline);
    if (!answer || answer->status != kConflict) co_return meaning(std::move(answer));
    KubernetesEvent copy = event;
    std::optional<Fate> repeated = co_await repeat(std::move(copy), deadline);
    if (repeated) co_return *std::move(repeated);
  }
  co_return std::unexpected(
      Refusal{false, {}, "kubernetes: others change the same event all the time"});
}

Task<std::optional<Fate>> KubernetesChannel::repeat(KubernetesEvent event, Deadline deadline) {
  const std::string url = events_url(event) + "/" + event.name;
  HttpCall get;
  get.method = "GET";
  get.url = url;
  Answer there = co_await call(std::move(get), deadline);
  if (there && there->status == kNotFound) co_return std::nullopt;
  if (!there || there->status != 200) co_return meaning(std::move(there));
  const auto state = codec::parse_kubernetes_event(there->body);
  if (!state) {
    co_return Fate(std::unexpected(Refusal{false, {}, "kubernetes: " + state.error().context}));
  }
  // It was taken, and we died before we knew.
  if (state->notice == event.notice) co_return Fate();
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
  std::string refused;  // the token that was
  for (;;) {
    auto token = options_.token();
    if (!token) co_return fail(Errc::kMissing, "the token: {}", token.error().describe());
    HttpCall copy = call;
    copy.headers.emplace_back("Authorization", "Bearer " + *token);
    Answer answer = co_await http_.call(std::move(copy), deadline);
    // The kubelet may have renewed it just now.
    const bool denied = answer && answer->status == kUnauthorized;
    if (!denied || *token == refused) co_return answer;
    refused = *std::move(token);
    const auto now = options_.token();
    if (!now || *now == refused) co_return answer;
  }
}

Fate KubernetesChannel::meaning(Answer answer) const {
  bool denied = false;
  if (answer) {
    denied = answer->status == kUnauthorized || answer->status == kForbidden;
    answer->body = codec::kubernetes_message(answer->body);
  }
  Fate fate = fate_of(answer, runtime_.wall_now());
  if (fate) return fate;
  Refusal refusal = fate.error();
  // Somebody may grant a role, or mend the token.
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
    if (event.object.empty() && options_.kind == kNode) event.object = options_.node;
  }
  if (!codec::is_kubernetes_name(event.object)) {
    return fail(Errc::kInvalid, "the label '{}' names no {} of Kubernetes: '{}'",
                options_.name_label, options_.kind, escape_control(event.object, 64));
  }
  const bool over = item.tidings == Tidings::kEnded;
  const store::ClockPair clock{runtime_.now(), runtime_.wall_now()};
  event.kind = options_.kind;
  event.version = options_.version;
  event.namespaced = !options_.space.empty();
  event.space = event.namespaced ? options_.space : std::string(kDefaultSpace);
  // The kubelet's way, by which `kubectl describe node` finds them.
  if (event.kind == kNode) event.uid = event.object;
  event.reason = incident.id == 0 ? "Test" : camel_case(to_string(incident.code));
  if (over) event.reason += "Resolved";
  event.warning = !over && incident.severity != judge::Severity::kInfo;
  event.message = message_of(item, options_.node);
  event.first = clock.wall(over ? incident.resolved.value_or(clock.now) : incident.opened);
  event.last = clock.wall_now;
  event.component = kComponent;
  event.instance = options_.node;
  event.notice = notice.key();
  const std::string identity = fmt::format("{}\n{}\n{}\n{}\n{}", options_.node, notice.receiver,
                                           incident.id, incident.root, event.reason);
  const std::string id = codec::hex(sha256(identity)).substr(0, kIdDigits);
  // As long as it may be, and of the object's name no more than that.
  event.name = fmt::format("{}.{}", event.object, id);
  if (!codec::is_kubernetes_name(event.name)) event.name = fmt::format("{}.{}", kComponent, id);
  return event;
}

}  // namespace wardmote::act::notify
