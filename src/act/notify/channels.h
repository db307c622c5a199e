#pragma once

#include <chrono>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "act/notify/channel.h"
#include "base/result.h"
#include "base/time.h"
#include "judge/notify/notice.h"
#include "runtime/http_client.h"
#include "runtime/process.h"
#include "runtime/runtime.h"

namespace wardmote::act::notify {

/// Writes a line into the agent's own log: with systemd, the journal. Always succeeds.
class LogChannel final : public Channel {
 public:
  runtime::Task<DeliveryResult> send(judge::notify::Notice notice,
                                     runtime::Deadline deadline) override;
};

/// Runs a program with the notice as JSON (payload.h) on its standard input. Exit code 0 means
/// delivered; 64, 65, 77 and 78 (sysexits.h: usage, data, permission, configuration) are given up;
/// all others are retried.
class ExecChannel final : public Channel {
 public:
  ExecChannel(runtime::Runtime& runtime, std::vector<std::string> argv)
      : runtime_(runtime), argv_(std::move(argv)) {}
  runtime::Task<DeliveryResult> send(judge::notify::Notice notice,
                                     runtime::Deadline deadline) override;

 private:
  runtime::Runtime& runtime_;
  std::vector<std::string> argv_;
};

struct WebhookOptions {
  std::string url;
  std::string body_template;  ///< empty: the whole of notice_json()
  std::vector<std::pair<std::string, std::string>> headers;
  std::string token;   ///< secret; sent as `Authorization: Bearer …`
  std::string secret;  ///< secret; signs: `X-Wardmote-Signature: sha256=…` over
                       ///< `X-Wardmote-Timestamp`, a full stop and the body
  std::string trust;
};

/// POSTs the notice as JSON. 2xx means delivered. 408, 425, 429 and 5xx are retried, after the time
/// that Retry-After asks for; 3xx, 401, 403 and 407 too, because somebody may correct the cause.
/// Redirects are not followed, because they would carry the secret to another server. Any other
/// status is given up.
class WebhookChannel final : public Channel {
 public:
  WebhookChannel(runtime::Runtime& runtime, runtime::HttpClient& http, WebhookOptions options)
      : runtime_(runtime), http_(http), options_(std::move(options)) {}
  runtime::Task<DeliveryResult> send(judge::notify::Notice notice,
                                     runtime::Deadline deadline) override;

 private:
  runtime::Runtime& runtime_;
  runtime::HttpClient& http_;
  WebhookOptions options_;
};

/// How long Alertmanager keeps an alert firing without further requests.
inline constexpr Duration kAlertLasts = std::chrono::days(7);

struct AlertmanagerOptions {
  std::string url;    ///< http://am-1:9093
  std::string token;  ///< secret
  std::string trust;
};

/// Alertmanager's API v2 (POST /api/v2/alerts): an incident is an alert with the labels that the
/// incident had when it was first sent; the end of the incident is the alert's endsAt. An open
/// alert ends by itself after kAlertLasts without a request. Each member of an Alertmanager cluster
/// has a channel of its own, because the members do not tell each other about alerts.
class AlertmanagerChannel final : public Channel {
 public:
  AlertmanagerChannel(runtime::Runtime& runtime, runtime::HttpClient& http,
                      AlertmanagerOptions options)
      : runtime_(runtime), http_(http), options_(std::move(options)) {}
  runtime::Task<DeliveryResult> send(judge::notify::Notice notice,
                                     runtime::Deadline deadline) override;

 private:
  runtime::Runtime& runtime_;
  runtime::HttpClient& http_;
  AlertmanagerOptions options_;
};

/// What an HTTP answer, or a missing one, means for a notice. Retry-After is seconds or a date. A
/// date is compared with the server's own clock (its Date header), so that clocks that differ do no
/// harm, and with `now` when there is no Date.
DeliveryResult delivery_result(const Result<runtime::HttpResponse>& answer, WallTime now);

}  // namespace wardmote::act::notify
