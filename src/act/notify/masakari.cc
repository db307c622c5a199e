#include "act/notify/masakari.h"

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
#include "act/notify/masakari_client.h"
#include "base/format.h"
#include "base/result.h"
#include "base/text.h"
#include "base/time.h"
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
  std::string text = **body;
  const MasakariClient::Answer answer =
      co_await client_.call("POST", "/notifications", std::move(text), deadline);
  if (!answer) co_return std::unexpected(answer.error());
  if (answer->status == kConflict) co_return DeliveryResult();
  DeliveryResult result = delivery_result(*answer, runtime_.wall_now());
  // Access may be granted later.
  const bool denied = answer->status == 401 || answer->status == 403;
  if (denied) result = for_now(std::move(result), "masakari");
  co_return result;
}

std::expected<std::optional<std::string>, Refusal> MasakariChannel::body_of(
    const NoticeItem& item) const {
  const MasakariOptions& options = client_.options();
  const bool began = item.kind == NoticeKind::kOpened;
  const bool ended = item.kind == NoticeKind::kResolved;
  if (!began && (!ended || options.type == Type::kInstance)) return std::nullopt;
  // Many things at once are no process and no instance; Masakari would look for one of that name.
  if (item.incident.storm && options.type != Type::kHost) return std::nullopt;
  // The cause may have changed since: STARTED goes to the name that got STOPPED.
  const judge::notify::Labels& labels = item.known_as.empty() ? item.labels : item.known_as;
  const auto label = labels.find(options.name_label);
  const std::string name = label == labels.end() ? std::string() : label->second;
  json::object payload;
  std::string_view type;
  if (options.type == Type::kInstance) {
    // A restart of a guest that works, or of one whose host is to blame, would do harm.
    if (spares_guest(item.incident.code)) return std::nullopt;
    type = "VM";
    auto instance = instance_payload(item.incident.code, labels, name, options.name_label);
    if (!instance) return std::unexpected(instance.error());
    payload = *std::move(instance);
  } else if (options.type == Type::kHost) {
    type = "COMPUTE_HOST";
    payload["event"] = began ? "STOPPED" : "STARTED";
    payload["cluster_status"] = began ? "OFFLINE" : "ONLINE";
    payload["host_status"] = began ? "UNKNOWN" : "NORMAL";
  } else {
    type = "PROCESS";
    if (name.empty() || name.size() > kLongestName) {
      return std::unexpected(
          Refusal{true, {}, fmt::format("the label '{}' names no process", options.name_label)});
    }
    payload["event"] = began ? "STOPPED" : "STARTED";
    payload["process_name"] = escape_control(name);
  }
  // The same each time, so that Masakari recognises a repetition.
  const store::ClockPair clock{runtime_.now(), runtime_.wall_now()};
  json::object notification;
  notification["type"] = type;
  notification["hostname"] = host_of(labels, options.host);
  notification["generated_time"] = naive_utc(clock.wall(item.incident.changed));
  notification["payload"] = std::move(payload);
  return json::serialize(json::object{{"notification", std::move(notification)}});
}

}  // namespace wardmote::act::notify
