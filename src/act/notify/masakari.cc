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
using judge::notify::Refusal;
using judge::notify::Tidings;
using runtime::Deadline;
using runtime::HttpCall;
using runtime::HttpResponse;
using runtime::Task;
using Type = MasakariOptions::Type;
using namespace std::chrono_literals;

namespace {

constexpr std::string_view kService = "instance-ha";
/// A token that ends so soon is renewed before.
constexpr Duration kTokenMargin = 60s;
constexpr std::size_t kLongestToken = 16 << 10;
constexpr std::size_t kLongestName = 255;  // of the API's schema
constexpr int kConflict = 409;

/// Masakari takes naive UTC with or without a fraction; its own monitors send none but this form.
std::string naive_utc(WallTime at) {
  std::string text = format_utc(at);
  text.pop_back();  // the Z
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

std::string header_of(const HttpResponse& answer, std::string_view name) {
  const auto found = std::ranges::find(
      answer.headers, name, [](const auto& header) { return std::string_view(header.first); });
  return found == answer.headers.end() ? std::string() : found->second;
}

/// Who is refused now may be let in later: somebody may change a password or a role.
Fate try_again(Fate fate, std::string_view whose) {
  if (fate) return fate;
  Refusal refusal = fate.error();
  refusal.for_ever = false;
  refusal.reason = fmt::format("{}: {}", whose, refusal.reason);
  return std::unexpected(std::move(refusal));
}

}  // namespace

Task<Fate> MasakariChannel::send(Notice notice, Deadline deadline) {
  // One that can never be told of must not keep the others from it.
  Fate worst;
  for (const NoticeItem& item : notice.items) {
    NoticeItem copy = item;
    Fate fate = co_await send_item(std::move(copy), deadline);
    if (fate) continue;
    if (!fate.error().for_ever) co_return fate;
    worst = std::move(fate);
  }
  co_return worst;
}

Task<Fate> MasakariChannel::send_item(NoticeItem item, Deadline deadline) {
  const auto body = body_of(item);
  if (!body) co_return std::unexpected(body.error());
  if (!*body) co_return Fate();
  // A token may be taken back before its end; a new one is tried once.
  bool renewed = false;
  for (;;) {
    const bool fresh = !ticket_;
    Fate fate = co_await log_in(deadline);
    if (!fate) co_return fate;
    std::string text = **body;
    fate = co_await post(std::move(text), deadline);
    if (fate || ticket_ || renewed || fresh) co_return fate;
    renewed = true;
  }
}

Task<Fate> MasakariChannel::post(std::string body, Deadline deadline) {
  HttpCall call;
  call.url = ticket_->url + "/notifications";
  call.trust = options_.trust;
  call.headers.emplace_back("Content-Type", "application/json");
  call.headers.emplace_back("OpenStack-API-Version", "instance-ha " + options_.microversion);
  if (!ticket_->token.empty()) call.headers.emplace_back("X-Auth-Token", ticket_->token);
  call.body = std::move(body);
  const Result<HttpResponse> answer = co_await http_.call(std::move(call), deadline);
  if (answer && answer->status == kConflict) co_return Fate();
  if (answer && answer->status == 401) ticket_.reset();
  const bool denied = answer && (answer->status == 401 || answer->status == 403);
  Fate fate = fate_of(answer, runtime_.wall_now());
  if (denied) fate = try_again(std::move(fate), "masakari");
  co_return fate;
}

Task<Fate> MasakariChannel::log_in(Deadline deadline) {
  if (ticket_ && runtime_.wall_now() + kTokenMargin < ticket_->expires) co_return Fate();
  ticket_.reset();
  if (options_.keystone.empty()) {
    ticket_ = Ticket{"", options_.url, WallTime::max()};
    co_return Fate();
  }
  HttpCall call;
  call.url = options_.keystone + "/auth/tokens";
  call.trust = options_.trust;
  call.headers.emplace_back("Content-Type", "application/json");
  call.body = codec::format_keystone_login(options_.login);
  const Result<HttpResponse> answer = co_await http_.call(std::move(call), deadline);
  Fate fate = try_again(fate_of(answer, runtime_.wall_now()), "keystone");
  if (!fate) co_return fate;
  const auto token = codec::parse_keystone_token(answer->body);
  if (!token) co_return std::unexpected(Refusal{false, {}, token.error().describe()});
  std::string subject = header_of(*answer, "x-subject-token");
  if (subject.empty() || subject.size() > kLongestToken) {
    co_return std::unexpected(Refusal{false, {}, "keystone: the answer bears no X-Subject-Token"});
  }
  std::string url = options_.url;
  if (url.empty()) {
    url = codec::find_endpoint(*token, kService, options_.interface, options_.region).value_or("");
    while (url.ends_with('/')) url.pop_back();
  }
  if (url.empty()) {
    co_return std::unexpected(
        Refusal{false,
                {},
                fmt::format("keystone: its catalogue has no {} endpoint of {}", options_.interface,
                            kService)});
  }
  ticket_ = Ticket{std::move(subject), std::move(url), token->expires};
  co_return Fate();
}

std::expected<std::optional<std::string>, Refusal> MasakariChannel::body_of(
    const NoticeItem& item) const {
  const bool began = item.tidings == Tidings::kBegan;
  const bool ended = item.tidings == Tidings::kEnded;
  if (!began && (!ended || options_.type == Type::kInstance)) return std::nullopt;
  const auto label = item.labels.find(options_.name_label);
  const std::string name = label == item.labels.end() ? std::string() : label->second;
  json::object payload;
  std::string_view type;
  if (options_.type == Type::kInstance) {
    type = "VM";
    if (!is_uuid(name)) {
      return std::unexpected(Refusal{true,
                                     {},
                                     fmt::format("the label '{}' is no UUID of an instance: '{}'",
                                                 options_.name_label, escape_control(name, 64))});
    }
    // What masakari-engine acts on (instance_events.py).
    payload["event"] = "QEMU_GUEST_AGENT_ERROR";
    payload["instance_uuid"] = name;
    payload["vir_domain_event"] = "STOPPED_FAILED";
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
  // The same each time that it is sent, so that Masakari knows a repetition.
  const store::ClockPair clock{runtime_.now(), runtime_.wall_now()};
  json::object notification;
  notification["type"] = type;
  notification["hostname"] = options_.host;
  notification["generated_time"] = naive_utc(clock.wall(item.incident.changed));
  notification["payload"] = std::move(payload);
  return json::serialize(json::object{{"notification", std::move(notification)}});
}

}  // namespace wardmote::act::notify
