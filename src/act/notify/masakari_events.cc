#include "act/notify/masakari_events.h"

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <expected>
#include <optional>
#include <string>
#include <utility>

#include "act/notify/channel.h"
#include "act/notify/channels.h"
#include "act/notify/masakari_client.h"
#include "act/notify/masakari_session.h"
#include "base/log.h"
#include "base/result.h"
#include "base/time.h"
#include "runtime/http_client.h"
#include "runtime/runtime.h"
#include "runtime/task.h"

namespace wardmote::act::notify {

namespace json = boost::json;
using runtime::Task;
using namespace std::chrono_literals;

namespace {

/// Keystone and Masakari may each take some seconds.
constexpr Duration kPatience = 30s;
constexpr Duration kPause = 10s;

}  // namespace

MasakariEvents::MasakariEvents(runtime::Runtime& runtime, runtime::HttpClient& http,
                               MasakariSession::Source source,
                               MasakariSession::ReadSecret read_secret, std::string node)
    : runtime_(runtime),
      source_(std::move(source)),
      session_(runtime, http, std::move(read_secret)),
      node_(std::move(node)),
      changed_(runtime.executor()),
      tasks_(runtime.executor()) {}

void MasakariEvents::start() {
  tasks_.spawn("masakari events", follow());
}

Task<void> MasakariEvents::stop() {
  co_await tasks_.stop();
}

void MasakariEvents::tell(std::string instance, std::string event, std::string vir_domain_event) {
  if (waiting_.size() == kMost) {
    log(LogLevel::kError, "masakari_event_lost",
        {{"uuid", waiting_.front().instance}, {"event", waiting_.front().event}});
    waiting_.pop_front();
  }
  waiting_.push_back(
      {std::move(instance), std::move(event), std::move(vir_domain_event), runtime_.wall_now()});
  changed_.notify();
}

Task<void> MasakariEvents::follow() {
  for (;;) {
    while (waiting_.empty()) co_await changed_.wait();
    Told told = std::move(waiting_.front());
    waiting_.pop_front();
    co_await send(std::move(told));
  }
}

Task<void> MasakariEvents::send(Told told) {
  for (int tried = 1; tried <= kAttempts; ++tried) {
    std::optional<MasakariOptions> options = source_();
    if (!options) co_return;
    std::string body = body_of(told, *options);
    const Result<MasakariClient*> client = session_.client(*std::move(options));
    bool done = false;
    if (client) {
      done = co_await attempt(*client, std::move(body), tried == kAttempts);
    } else {
      log(LogLevel::kWarning, "masakari_event_not_told", {{"reason", client.error().describe()}});
    }
    if (done) co_return;
    co_await runtime_.sleep_until(runtime_.now() + kPause);
  }
  log(LogLevel::kError, "masakari_event_lost", {{"uuid", told.instance}, {"event", told.event}});
}

Task<bool> MasakariEvents::attempt(MasakariClient* client, std::string body, bool last) {
  const MasakariClient::Answer answer = co_await client->call(
      "POST", "/notifications", std::move(body), runtime_.deadline_in(kPatience));
  if (answer && answer->status == 409) co_return true;
  DeliveryResult result;
  if (!answer) {
    result = std::unexpected(answer.error());
  } else {
    result = delivery_result(*answer, runtime_.wall_now());
  }
  if (result) co_return true;
  const bool denied = answer && (answer->status == 401 || answer->status == 403);
  const bool over = result.error().for_ever && !denied;
  // A secret that was changed is read again.
  session_.renew();
  if (over || last)
    log(LogLevel::kWarning, "masakari_event_not_told", {{"reason", result.error().reason}});
  co_return over;
}

std::string MasakariEvents::body_of(const Told& told, const MasakariOptions& options) const {
  json::object payload;
  payload["event"] = told.event;
  payload["instance_uuid"] = told.instance;
  payload["vir_domain_event"] = told.vir_domain_event;
  json::object notification;
  notification["type"] = "VM";
  notification["hostname"] = options.host.empty() ? node_ : options.host;
  notification["generated_time"] = masakari_time(told.at);
  notification["payload"] = std::move(payload);
  return json::serialize(json::object{{"notification", std::move(notification)}});
}

}  // namespace wardmote::act::notify
