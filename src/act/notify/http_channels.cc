#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <chrono>
#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "act/notify/channel.h"
#include "act/notify/channels.h"
#include "act/notify/payload.h"
#include "act/notify/template.h"
#include "base/format.h"
#include "base/result.h"
#include "base/text.h"
#include "base/time.h"
#include "codec/digest.h"
#include "codec/http_date.h"
#include "codec/url.h"
#include "judge/finding.h"
#include "judge/incident/incident.h"
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
using judge::incident::Phase;
using judge::notify::Notice;
using judge::notify::NoticeItem;
using judge::notify::Refusal;
using runtime::Deadline;
using runtime::HttpCall;
using runtime::HttpResponse;
using runtime::Task;

namespace {

constexpr int kTryAgain[] = {408, 425, 429};
/// Errors whose cause somebody may correct soon: a server that moved, a proxy that asks for a
/// login, a token or a right.
constexpr int kMayBeMended[] = {401, 403, 407};

std::optional<Duration> retry_after(const HttpResponse& answer, WallTime now) {
  const std::string_view value = header_of(answer, "retry-after");
  if (const auto seconds = parse_number<std::uint32_t>(value))
    return std::chrono::seconds(*seconds);
  const auto date = codec::parse_http_date(value, now);
  if (!date) return std::nullopt;
  const WallTime theirs = codec::parse_http_date(header_of(answer, "date"), now).value_or(now);
  return std::max(*date - theirs, Duration::zero());
}

bool redirects(const HttpResponse& answer) {
  return answer.status >= 300 && answer.status < 400;
}

/// The address without the path, because the path can carry a secret of the receiver.
std::string redirect_reason(const HttpResponse& answer) {
  const auto to = codec::parse_url(header_of(answer, "location"));
  return fmt::format(
      "HTTP {}: it redirects to {}, and redirects are not followed: "
      "write the address that answers into the configuration",
      answer.status,
      to ? escape_control(to->scheme + "://" + codec::host_header(*to), 128) : "another path");
}

json::object alert_of(const NoticeItem& item, const store::ClockPair& clock) {
  const judge::incident::Incident& incident = item.incident;
  json::object labels;
  // A value that can change during the incident must not be a label: it would make another alert,
  // and the first would never end.
  const judge::notify::Labels& known_as = item.known_as.empty() ? item.labels : item.known_as;
  for (const auto& [name, value] : known_as) labels[name] = escape_control(value);
  labels.erase("severity");
  labels.erase("code");
  labels["alertname"] = "wardmote";
  labels["incident"] = std::to_string(incident.id);
  json::object annotations;
  annotations["summary"] = escape_control(incident.summary, 1024);
  annotations["severity"] = to_string(incident.severity);
  annotations["code"] = to_string(incident.code);
  annotations["root"] = escape_control(incident.root);
  annotations["revision"] = std::to_string(incident.revision);
  json::object alert;
  alert["labels"] = std::move(labels);
  alert["annotations"] = std::move(annotations);
  alert["startsAt"] = format_utc(clock.wall(incident.opened));
  alert["endsAt"] =
      format_utc(incident.resolved ? clock.wall(*incident.resolved) : clock.wall_now + kAlertLasts);
  return alert;
}

}  // namespace

std::string_view header_of(const HttpResponse& answer, std::string_view name) {
  const auto found = std::ranges::find(
      answer.headers, name, [](const auto& each) { return std::string_view(each.first); });
  return found == answer.headers.end() ? std::string_view() : trim(found->second);
}

DeliveryResult delivery_result(const Result<HttpResponse>& answer, WallTime now) {
  if (!answer) {
    const bool for_ever = answer.error().code == Errc::kInvalid;
    return std::unexpected(Refusal{for_ever, {}, answer.error().describe()});
  }
  if (answer->status >= 200 && answer->status < 300) return {};
  if (redirects(*answer))
    return std::unexpected(Refusal{false, {}, redirect_reason(*answer), true});
  const auto one_of = [&](std::span<const int> some) {
    return std::ranges::find(some, answer->status) != some.end();
  };
  const bool is_status = answer->status >= 100 && answer->status < 600;
  const bool again =
      !is_status || answer->status >= 500 || one_of(kTryAgain) || one_of(kMayBeMended);
  return std::unexpected(Refusal{
      !again, again ? retry_after(*answer, now) : std::nullopt,
      fmt::format("HTTP {}: {}", answer->status, escape_control(trim(answer->body), 200)), true});
}

Task<DeliveryResult> WebhookChannel::send(Notice notice, Deadline deadline) {
  const store::ClockPair clock{runtime_.now(), runtime_.wall_now()};
  const json::object payload = notice_json(notice, clock);
  HttpCall call;
  call.url = options_.url;
  call.trust = options_.trust;
  call.headers.emplace_back("Content-Type", "application/json");
  call.headers.emplace_back("Idempotency-Key", notice.key());
  call.body = options_.body_template.empty() ? json::serialize(payload)
                                             : fill_template(options_.body_template, payload);
  if (!options_.token.text.empty()) {
    call.headers.emplace_back("Authorization", "Bearer " + options_.token.text);
  }
  if (!options_.secret.text.empty()) {
    const std::string at = std::to_string(
        std::chrono::duration_cast<std::chrono::seconds>(clock.wall_now.time_since_epoch())
            .count());
    const auto signature = codec::hmac_sha256(options_.secret.text, at + "." + call.body);
    call.headers.emplace_back("X-Wardmote-Timestamp", at);
    call.headers.emplace_back("X-Wardmote-Signature", "sha256=" + codec::hex(signature));
  }
  const Result<HttpResponse> answer = co_await http_.call(std::move(call), deadline);
  co_return delivery_result(answer, runtime_.wall_now());
}

Task<DeliveryResult> AlertmanagerChannel::send(Notice notice, Deadline deadline) {
  const store::ClockPair clock{runtime_.now(), runtime_.wall_now()};
  json::array alerts;
  for (const NoticeItem& item : notice.items) alerts.emplace_back(alert_of(item, clock));
  HttpCall call;
  call.url = url_ + "/api/v2/alerts";
  call.trust = options_.trust;
  call.headers.emplace_back("Content-Type", "application/json");
  if (!options_.token.text.empty()) {
    call.headers.emplace_back("Authorization", "Bearer " + options_.token.text);
  }
  call.body = json::serialize(alerts);
  const Result<HttpResponse> answer = co_await http_.call(std::move(call), deadline);
  co_return delivery_result(answer, runtime_.wall_now());
}

}  // namespace wardmote::act::notify
