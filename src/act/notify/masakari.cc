#include "act/notify/masakari.h"

#include <array>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "act/notify/channel.h"
#include "act/notify/channels.h"
#include "act/notify/masakari_client.h"
#include "base/format.h"
#include "base/result.h"
#include "base/text.h"
#include "base/time.h"
#include "codec/masakari.h"
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
using judge::notify::Dropped;
using judge::notify::Notice;
using judge::notify::NoticeItem;
using judge::notify::NoticeKind;
using judge::notify::NoticePart;
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
/// `duplicate_notification_detection_interval`, and a little more.
constexpr Duration kDuplicates = 3min + 5s;
constexpr std::string_view kDropped =
    "Masakari knows an earlier failure of an instance, or its host is in maintenance: it is told "
    "again in 3 minutes if the guest is still lost";
constexpr std::size_t kToTheSecond = 19;
constexpr std::size_t kMostKnown = 10'000;

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
bool spares_guest(judge::Code code, const judge::notify::Labels& labels) {
  const auto severity = labels.find("severity");
  if (severity != labels.end() && severity->second != "critical") return true;
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

/// The cause may have changed since: STARTED goes to the name that got STOPPED.
const judge::notify::Labels& labels_of(const NoticeItem& item) noexcept {
  return item.known_as.empty() ? item.labels : item.known_as;
}

/// What was stopped under one name is started under the same, whatever the node is called since.
std::string host_of(const judge::notify::Labels& labels, const std::string& configured) {
  const auto node = labels.find("node");
  return configured.empty() && node != labels.end() ? node->second : configured;
}

/// The name of a guest is that of its domain; then its UUID is in a label of its own.
std::string instance_of(const judge::notify::Labels& labels, const std::string& name_label) {
  const auto label = labels.find(name_label);
  const auto uuid = labels.find("uuid");
  std::string name = label == labels.end() ? std::string() : label->second;
  return !is_uuid(name) && uuid != labels.end() ? uuid->second : name;
}

std::expected<json::object, Refusal> instance_payload(judge::Code code, const std::string& name,
                                                      const std::string& name_label) {
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
  Dropped dropped{.again_in = kDuplicates};
  for (const NoticeItem& item : notice.items) {
    std::vector<NoticeItem> single = apart(item);
    for (NoticeItem& one : single) {
      NoticeItem each = std::move(one);
      DeliveryResult result = co_await send_item(std::move(each), notice.number, deadline);
      if (result) {
        dropped.incidents.merge(result->dropped.incidents);
        continue;
      }
      if (!result.error().for_ever) co_return result;
      worst = std::move(result);
    }
  }
  if (!worst || dropped.incidents.empty()) co_return worst;
  co_return Delivered{std::string(kDropped), std::move(dropped)};
}

/// The guests of a storm, but for those of which Masakari knows since they fail.
std::vector<NoticeItem> MasakariChannel::apart(const NoticeItem& item) const {
  if (client_.options().type != Type::kInstance || !item.incident.storm) return {item};
  std::vector<NoticeItem> single;
  if (item.kind != NoticeKind::kOpened && item.kind != NoticeKind::kChanged) return single;
  for (const NoticePart& part : item.parts) {
    const auto told = taken_.find(instance_of(part.labels, client_.options().name_label));
    if (told != taken_.end() && told->second >= part.since) continue;
    NoticeItem& one = single.emplace_back();
    one.kind = NoticeKind::kOpened;
    one.incident.id = item.incident.id;
    one.incident.code = part.code;
    one.incident.changed = part.since;
    one.labels = part.labels;
  }
  return single;
}

Task<DeliveryResult> MasakariChannel::send_item(NoticeItem item, std::uint64_t number,
                                                Deadline deadline) {
  const bool instance = client_.options().type == Type::kInstance;
  const judge::notify::Labels& labels = labels_of(item);
  const std::string uuid =
      instance ? instance_of(labels, client_.options().name_label) : std::string();
  const WallTime at = generated(item, uuid, number);
  const auto body = body_of(item, at);
  if (!body) co_return std::unexpected(body.error());
  if (!*body) co_return DeliveryResult();
  std::string text = **body;
  const MasakariClient::Answer answer =
      co_await client_.call("POST", "/notifications", std::move(text), deadline);
  if (!answer) co_return std::unexpected(answer.error());
  if (answer->status == kConflict && instance) {
    std::string asked = uuid;
    const bool ours = co_await knows(std::move(asked), at, deadline);
    if (!ours) {
      if (dropped_.size() >= kMostKnown) dropped_.clear();
      dropped_[uuid] = number;
      co_return Delivered{{}, Dropped{{item.incident.id}, kDuplicates}};
    }
  }
  DeliveryResult result;
  if (answer->status != kConflict) result = delivery_result(*answer, runtime_.wall_now());
  if (result && instance) {
    if (taken_.size() >= kMostKnown) taken_.clear();
    taken_[uuid] = runtime_.now();
    dropped_.erase(uuid);
  }
  // Access may be granted later.
  const bool denied = answer->status == 401 || answer->status == 403;
  if (denied) result = for_now(std::move(result), "masakari");
  co_return result;
}

/// The same each time, so that Masakari recognises a repetition; but one that it dropped is told
/// anew, as what is so now.
WallTime MasakariChannel::generated(const NoticeItem& item, const std::string& uuid,
                                    std::uint64_t number) const {
  const auto dropped = dropped_.find(uuid);
  if (dropped != dropped_.end() && dropped->second != number)
    return WallTime(std::chrono::milliseconds(static_cast<std::int64_t>(number)));
  const store::ClockPair clock{runtime_.now(), runtime_.wall_now()};
  return clock.wall(item.incident.changed);
}

/// The answer to an earlier attempt may have been lost.
Task<bool> MasakariChannel::knows(std::string uuid, WallTime at, Deadline deadline) {
  std::string path =
      "/notifications?type=VM&generated-since=" + masakari_time(at - 2s).substr(0, kToTheSecond);
  const MasakariClient::Answer answer =
      co_await client_.call("GET", std::move(path), std::string(), deadline);
  if (!answer || answer->status != 200) co_return false;
  const std::array times = {masakari_time(at).substr(0, kToTheSecond),
                            masakari_time(at + 1s).substr(0, kToTheSecond)};
  co_return codec::lists_masakari_notification(answer->body, uuid, times);
}

std::expected<std::optional<std::string>, Refusal> MasakariChannel::body_of(const NoticeItem& item,
                                                                            WallTime at) const {
  const MasakariOptions& options = client_.options();
  const bool began = item.kind == NoticeKind::kOpened;
  const bool ended = item.kind == NoticeKind::kResolved;
  if (!began && (!ended || options.type == Type::kInstance)) return std::nullopt;
  // Many things at once are no process and no instance; Masakari would look for one of that name.
  if (item.incident.storm && options.type != Type::kHost) return std::nullopt;
  const judge::notify::Labels& labels = labels_of(item);
  const auto label = labels.find(options.name_label);
  const std::string name = label == labels.end() ? std::string() : label->second;
  json::object payload;
  std::string_view type;
  if (options.type == Type::kInstance) {
    // A restart of a guest that works, or of one whose host is to blame, would do harm.
    if (spares_guest(item.incident.code, labels)) return std::nullopt;
    type = "VM";
    auto instance = instance_payload(item.incident.code, instance_of(labels, options.name_label),
                                     options.name_label);
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
  json::object notification;
  notification["type"] = type;
  notification["hostname"] = host_of(labels, options.host);
  notification["generated_time"] = masakari_time(at);
  notification["payload"] = std::move(payload);
  return json::serialize(json::object{{"notification", std::move(notification)}});
}

}  // namespace wardmote::act::notify
