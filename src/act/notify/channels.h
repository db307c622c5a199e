#pragma once

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
  runtime::Task<Fate> send(judge::notify::Notice notice, runtime::Deadline deadline) override;
};

/// Runs a program with the notice as JSON (payload.h) on its standard input. Exit code 0 is
/// delivered, 64, 65, 77 and 78 (sysexits.h: usage, data, permission, configuration) are for ever,
/// anything else is tried again.
class ExecChannel final : public Channel {
 public:
  ExecChannel(runtime::Runtime& runtime, std::vector<std::string> argv)
      : runtime_(runtime), argv_(std::move(argv)) {}
  runtime::Task<Fate> send(judge::notify::Notice notice, runtime::Deadline deadline) override;

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

/// POSTs the notice as JSON. 2xx is delivered; 408, 425, 429 and 5xx are tried again, in the time
/// that Retry-After asks for; any other status is for ever.
class WebhookChannel final : public Channel {
 public:
  WebhookChannel(runtime::Runtime& runtime, runtime::HttpClient& http, WebhookOptions options)
      : runtime_(runtime), http_(http), options_(std::move(options)) {}
  runtime::Task<Fate> send(judge::notify::Notice notice, runtime::Deadline deadline) override;

 private:
  runtime::Runtime& runtime_;
  runtime::HttpClient& http_;
  WebhookOptions options_;
};

struct AlertmanagerOptions {
  std::vector<std::string> urls;  ///< of each of a cluster's members: http://am-1:9093
  std::string token;              ///< secret
  std::string trust;
};

/// Alertmanager's API v2 (POST /api/v2/alerts): an incident is an alert with the incident's labels;
/// its end is the alert's endsAt. An open one ends by itself after a week, if nobody says more. All
/// members are told, since they expect that of a client; one that took it is enough.
class AlertmanagerChannel final : public Channel {
 public:
  AlertmanagerChannel(runtime::Runtime& runtime, runtime::HttpClient& http,
                      AlertmanagerOptions options)
      : runtime_(runtime), http_(http), options_(std::move(options)) {}
  runtime::Task<Fate> send(judge::notify::Notice notice, runtime::Deadline deadline) override;

 private:
  runtime::Runtime& runtime_;
  runtime::HttpClient& http_;
  AlertmanagerOptions options_;
};

/// What an HTTP answer, or the lack of one, means for a notice. Retry-After is seconds or a date,
/// which is compared with the server's own clock, its Date, so that clocks that differ do no harm;
/// with `now` when it tells none.
Fate fate_of(const Result<runtime::HttpResponse>& answer, WallTime now);

}  // namespace wardmote::act::notify
