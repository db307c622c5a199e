#include "act/notify/masakari.h"

#include <algorithm>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
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
#include "codec/keystone.h"
#include "judge/finding.h"
#include "judge/notify/matcher.h"
#include "judge/notify/notice.h"
#include "judge/notify/router.h"
#include "runtime/deadline.h"
#include "runtime/http.h"
#include "runtime/http_client.h"
#include "runtime/task.h"
#include "store/clock_pair.h"

namespace wardmote::act::notify {

namespace json = boost::json;
using judge::notify::Notice;
using judge::notify::NoticeItem;
using judge::notify::NoticeKind;
using judge::notify::Refusal;
using runtime::Deadline;
using runtime::HttpCall;
using runtime::HttpResponse;
using runtime::Task;
using Type = MasakariOptions::Type;
using namespace std::chrono_literals;

namespace {

constexpr std::string_view kService = "instance-ha";
/// A token that ends sooner than this is renewed first.
constexpr Duration kTokenMargin = 60s;
constexpr std::size_t kLongestToken = 16 << 10;
constexpr std::size_t kLongestName = 255;  // of the API's schema
constexpr int kConflict = 409;

/// Masakari accepts naive UTC with or without a fraction; its own monitors send only this form.
std::string naive_utc(WallTime at) {
  std::string text = format_utc(at);
  text.pop_back();  // cut off the Z
  return text + "000";
}

bool is_uuid(std::string_view text) {
  if (text.size() != 36) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
    const bool hex = std::string_view("0123456789abcdefABCDEF").contains(text[i]);
    if (dash ? text[i] != '-' : !hex) return false;
  }
  return true;
}

/// What is found of guests, and is no reason to restart one.
bool spares_guest(judge::Code code) noexcept {
  switch (code) {
    case judge::Code::kAgentDown:
    case judge::Code::kAgentStuck:
    case judge::Code::kAgentNeverAnswered:
    case judge::Code::kQemuStuck:
    case judge::Code::kHostStorage:
    case judge::Code::kVmKeepsFailing:
    case judge::Code::kVmFsFrozen:
    case judge::Code::kVmClockDrift:
    case judge::Code::kVmFsFull: return true;
    default: return false;
  }
}

/// What was stopped under one name is started under the same, whatever the node is called since.
std::string host_of(const judge::notify::Labels& labels, const std::string& configured) {
  const auto node = labels.find("node");
  return configured.empty() && node != labels.end() ? node->second : configured;
}

std::expected<json::object, Refusal> instance_payload(judge::Code code,
                                                      const judge::notify::Labels& labels,
                                                      std::string name,
                                                      const std::string& name_label) {
  // The name of a guest is that of its domain.
  const auto uuid = labels.find("uuid");
  if (!is_uuid(name) && uuid != labels.end()) name = uuid->second;
  if (!is_uuid(name)) {
    return std::unexpected(Refusal{true,
                                   {},
                                   fmt::format("the label '{}' is not a UUID of an instance: '{}'",
                                               name_label, escape_control(name, 64))});
  }
  // The events on which masakari-engine acts (instance_events.py): that of the introspective
  // monitor, and that of the instance monitor where QEMU is gone.
  const bool died = code == judge::Code::kGuestDied;
  json::object payload;
  payload["event"] = died ? "LIFECYCLE" : "QEMU_GUEST_AGENT_ERROR";
  payload["instance_uuid"] = name;
  payload["vir_domain_event"] = "STOPPED_FAILED";
  return payload;
}

std::string header_of(const HttpResponse& answer, std::string_view name) {
  const auto found = std::ranges::find(
      answer.headers, name, [](const auto& header) { return std::string_view(header.first); });
  return found == answer.headers.end() ? std::string() : found->second;
}

/// A refused login may succeed later: somebody may change a password or a role.
DeliveryResult try_again(DeliveryResult result, std::string_view whose) {
  if (result) return result;
  Refusal refusal = result.error();
  refusal.for_ever = false;
  refusal.reason = fmt::format("{}: {}", whose, refusal.reason);
  return std::unexpected(std::move(refusal));
}

}  // namespace

Task<DeliveryResult> MasakariChannel::send(Notice notice, Deadline deadline) {
  // An incident that can never be sent must not keep back the others.
  DeliveryResult worst;
  for (const NoticeItem& item : notice.items) {
    NoticeItem copy = item;
    DeliveryResult result = co_await send_item(std::move(copy), deadline);
    if (result) continue;
    if (!result.error().for_ever) co_return result;
    worst = std::move(result);
  }
  co_return worst;
}

Task<DeliveryResult> MasakariChannel::send_item(NoticeItem item, Deadline deadline) {
  const auto body = body_of(item);
  if (!body) co_return std::unexpected(body.error());
  if (!*body) co_return DeliveryResult();
  // A token may be revoked before its end; a new one is tried once.
  bool renewed = false;
  for (;;) {
    const bool fresh = !ticket_;
    DeliveryResult result = co_await log_in(deadline);
    if (!result) co_return result;
    std::string text = **body;
    result = co_await post(std::move(text), deadline);
    if (result || ticket_ || renewed || fresh) co_return result;
    renewed = true;
  }
}

Task<DeliveryResult> MasakariChannel::post(std::string body, Deadline deadline) {
  HttpCall call;
  call.url = ticket_->url + "/notifications";
  call.trust = options_.trust;
  call.headers.emplace_back("Content-Type", "application/json");
  call.headers.emplace_back("OpenStack-API-Version", "instance-ha " + options_.microversion);
  if (!ticket_->token.empty()) call.headers.emplace_back("X-Auth-Token", ticket_->token);
  call.body = std::move(body);
  const Result<HttpResponse> answer = co_await http_.call(std::move(call), deadline);
  if (answer && answer->status == kConflict) co_return DeliveryResult();
  if (answer && answer->status == 401) ticket_.reset();
  const bool denied = answer && (answer->status == 401 || answer->status == 403);
  DeliveryResult result = delivery_result(answer, runtime_.wall_now());
  if (denied) result = try_again(std::move(result), "masakari");
  co_return result;
}

Task<DeliveryResult> MasakariChannel::log_in(Deadline deadline) {
  if (ticket_ && runtime_.wall_now() + kTokenMargin < ticket_->expires) co_return DeliveryResult();
  ticket_.reset();
  if (options_.keystone.url.empty()) {
    ticket_ = Ticket{"", options_.url, WallTime::max()};
    co_return DeliveryResult();
  }
  HttpCall call;
  call.url = options_.keystone.url + "/auth/tokens";
  call.trust = options_.trust;
  call.headers.emplace_back("Content-Type", "application/json");
  call.body = codec::format_keystone_login(options_.keystone.login);
  const Result<HttpResponse> answer = co_await http_.call(std::move(call), deadline);
  DeliveryResult result = try_again(delivery_result(answer, runtime_.wall_now()), "keystone");
  if (!result) co_return result;
  const auto token = codec::parse_keystone_token(answer->body);
  if (!token) co_return std::unexpected(Refusal{false, {}, token.error().describe()});
  std::string subject = header_of(*answer, "x-subject-token");
  if (subject.empty() || subject.size() > kLongestToken) {
    co_return std::unexpected(Refusal{false, {}, "keystone: the answer bears no X-Subject-Token"});
  }
  std::string url = options_.url;
  if (url.empty()) {
    url = codec::find_endpoint(*token, kService, options_.keystone.interface,
                               options_.keystone.region)
              .value_or("");
    while (url.ends_with('/')) url.pop_back();
  }
  if (url.empty()) {
    co_return std::unexpected(
        Refusal{false,
                {},
                fmt::format("keystone: its catalogue has no {} endpoint of {}",
                            options_.keystone.interface, kService)});
  }
  ticket_ = Ticket{std::move(subject), std::move(url), token->expires};
  co_return DeliveryResult();
}

std::expected<std::optional<std::string>, Refusal> MasakariChannel::body_of(
    const NoticeItem& item) const {
  const bool began = item.kind == NoticeKind::kOpened;
  const bool ended = item.kind == NoticeKind::kResolved;
  if (!began && (!ended || options_.type == Type::kInstance)) return std::nullopt;
  // Many things at once are no process and no instance; Masakari would look for one of that name.
  if (item.incident.storm && options_.type != Type::kHost) return std::nullopt;
  // The cause may have changed since: STARTED goes to the name that got STOPPED.
  const judge::notify::Labels& labels = item.known_as.empty() ? item.labels : item.known_as;
  const auto label = labels.find(options_.name_label);
  const std::string name = label == labels.end() ? std::string() : label->second;
  json::object payload;
  std::string_view type;
  if (options_.type == Type::kInstance) {
    // A restart of a guest that works, or of one whose host is to blame, would do harm.
    if (spares_guest(item.incident.code)) return std::nullopt;
    type = "VM";
    auto instance = instance_payload(item.incident.code, labels, name, options_.name_label);
    if (!instance) return std::unexpected(instance.error());
    payload = *std::move(instance);
  } else if (options_.type == Type::kHost) {
    type = "COMPUTE_HOST";
    payload["event"] = began ? "STOPPED" : "STARTED";
    payload["cluster_status"] = began ? "OFFLINE" : "ONLINE";
    payload["host_status"] = began ? "UNKNOWN" : "NORMAL";
  } else {
    type = "PROCESS";
    if (name.empty() || name.size() > kLongestName) {
      return std::unexpected(
          Refusal{true, {}, fmt::format("the label '{}' names no process", options_.name_label)});
    }
    payload["event"] = began ? "STOPPED" : "STARTED";
    payload["process_name"] = escape_control(name);
  }
  // The same each time, so that Masakari recognises a repetition.
  const store::ClockPair clock{runtime_.now(), runtime_.wall_now()};
  json::object notification;
  notification["type"] = type;
  notification["hostname"] = host_of(labels, options_.host);
  notification["generated_time"] = naive_utc(clock.wall(item.incident.changed));
  notification["payload"] = std::move(payload);
  return json::serialize(json::object{{"notification", std::move(notification)}});
}

}  // namespace wardmote::act::notify
