#include "act/notify/masakari_client.h"

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
#include "base/time.h"
#include "codec/keystone.h"
#include "judge/notify/router.h"
#include "runtime/deadline.h"
#include "runtime/http.h"
#include "runtime/http_client.h"
#include "runtime/task.h"

namespace wardmote::act::notify {

using judge::notify::Refusal;
using runtime::Deadline;
using runtime::HttpCall;
using runtime::HttpResponse;
using runtime::Task;
using namespace std::chrono_literals;

namespace {

constexpr std::string_view kService = "instance-ha";
/// A token that ends sooner than this is renewed first.
constexpr Duration kTokenMargin = 60s;
constexpr std::size_t kLongestToken = 16 << 10;

}  // namespace

std::string masakari_time(WallTime at) {
  std::string text = format_utc(at);
  text.pop_back();  // cut off the Z
  return text + "000";
}

DeliveryResult for_now(DeliveryResult result, std::string_view whose) {
  if (result) return result;
  Refusal refusal = result.error();
  refusal.for_ever = false;
  refusal.reason = fmt::format("{}: {}", whose, refusal.reason);
  return std::unexpected(std::move(refusal));
}

Task<MasakariClient::Answer> MasakariClient::call(std::string method, std::string path,
                                                  std::string body, Deadline deadline) {
  // A token may be revoked before its end; a new one is tried once.
  const bool fresh = !ticket_;
  Answer answer = co_await call_once(method, path, body, deadline);
  if (!answer || answer->status != 401 || fresh) co_return answer;
  answer = co_await call_once(std::move(method), std::move(path), std::move(body), deadline);
  co_return answer;
}

Task<MasakariClient::Answer> MasakariClient::call_once(std::string method, std::string path,
                                                       std::string body, Deadline deadline) {
  const DeliveryResult logged_in = co_await log_in(deadline);
  if (!logged_in) co_return std::unexpected(logged_in.error());
  HttpCall call;
  call.method = std::move(method);
  call.url = ticket_->url + path;
  call.trust = options_.trust;
  call.headers.emplace_back("Content-Type", "application/json");
  call.headers.emplace_back("OpenStack-API-Version", "instance-ha " + options_.microversion);
  if (!ticket_->token.empty()) call.headers.emplace_back("X-Auth-Token", ticket_->token);
  call.body = std::move(body);
  Result<HttpResponse> answer = co_await http_.call(std::move(call), deadline);
  if (!answer) co_return std::unexpected(delivery_result(answer, runtime_.wall_now()).error());
  if (answer->status == 401) ticket_.reset();
  co_return *std::move(answer);
}

Task<DeliveryResult> MasakariClient::log_in(Deadline deadline) {
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
  DeliveryResult result = for_now(delivery_result(answer, runtime_.wall_now()), "keystone");
  if (!result) co_return result;
  const auto token = codec::parse_keystone_token(answer->body);
  if (!token) co_return std::unexpected(Refusal{false, {}, token.error().describe()});
  std::string subject(header_of(*answer, "x-subject-token"));
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

}  // namespace wardmote::act::notify
