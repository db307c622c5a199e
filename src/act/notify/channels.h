#pragma once

#include <chrono>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "act/notify/channel.h"
#include "act/notify/secret.h"
#include "base/result.h"
#include "base/time.h"
#include "judge/notify/notice.h"
#include "runtime/http_client.h"
#include "runtime/process.h"
#include "runtime/runtime.h"

namespace wardmote::act::notify {

/// A receiver `log`: there is nothing to choose.
struct LogOptions {
  friend bool operator==(const LogOptions&, const LogOptions&) = default;
};

/// Writes a line into the agent's own log: with systemd, the journal. Always succeeds.
class LogChannel final : public Channel {
 public:
  runtime::Task<DeliveryResult> send(judge::notify::Notice notice,
                                     runtime::Deadline deadline) override;
};

struct ExecOptions {
  std::vector<std::string> command;  ///< argv; the program's path is absolute
  friend bool operator==(const ExecOptions&, const ExecOptions&) = default;
};

/// Runs a program with the notice as JSON (payload.h) on its standard input. Exit code 0 means
/// delivered; 64, 65, 77 and 78 (sysexits.h: usage, data, permission, configuration) are given up;
/// all others are retried.
class ExecChannel final : public Channel {
 public:
  ExecChannel(runtime::Runtime& runtime, ExecOptions options)
      : runtime_(runtime), options_(std::move(options)) {}
  runtime::Task<DeliveryResult> send(judge::notify::Notice notice,
                                     runtime::Deadline deadline) override;

 private:
  runtime::Runtime& runtime_;
  ExecOptions options_;
};

struct WebhookOptions {
  std::string url;            ///< may carry a secret; empty while it is only in `url_file`
  std::string body_template;  ///< empty: the whole of notice_json()
  Secret token;               ///< sent as `Authorization: Bearer …`
  Secret secret;              ///< signs: `X-Wardmote-Signature: sha256=…` over
                              ///< `X-Wardmote-Timestamp`, a full stop and the body
  std::string trust;          ///< a file of CA certificates; empty: whom the system trusts
  Secret url_file{};          ///< of the address; whoever makes the channel copies it
  friend bool operator==(const WebhookOptions&, const WebhookOptions&) = default;
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
  std::vector<std::string> urls;  ///< http://am-1:9093, one of each member of the cluster
  Secret token;
  std::string trust;
  friend bool operator==(const AlertmanagerOptions&, const AlertmanagerOptions&) = default;
};

/// Alertmanager's API v2 (POST /api/v2/alerts): an incident is an alert with the labels that the
/// incident had when it was first sent; the end of the incident is the alert's endsAt. An open
/// alert ends by itself after kAlertLasts without a request. Each member of an Alertmanager cluster
/// has a channel of its own, for one of `urls`, because the members do not tell each other about
/// alerts.
class AlertmanagerChannel final : public Channel {
 public:
  AlertmanagerChannel(runtime::Runtime& runtime, runtime::HttpClient& http, std::string url,
                      AlertmanagerOptions options)
      : runtime_(runtime), http_(http), url_(std::move(url)), options_(std::move(options)) {}
  runtime::Task<DeliveryResult> send(judge::notify::Notice notice,
                                     runtime::Deadline deadline) override;

 private:
  runtime::Runtime& runtime_;
  runtime::HttpClient& http_;
  std::string url_;
  AlertmanagerOptions options_;
};

/// The value of the first header of this name, in lower case; empty: there is none.
std::string_view header_of(const runtime::HttpResponse& answer, std::string_view name);

/// What an HTTP answer, or a missing one, means for a notice. Retry-After is seconds or a date. A
/// date is compared with the server's own clock (its Date header), so that clocks that differ do no
/// harm, and with `now` when there is no Date.
DeliveryResult delivery_result(const Result<runtime::HttpResponse>& answer, WallTime now);

}  // namespace wardmote::act::notify
