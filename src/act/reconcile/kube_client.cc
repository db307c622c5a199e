#include "act/reconcile/kube_client.h"

#include <algorithm>
#include <boost/json/object.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "act/reconcile/kube_login.h"
#include "base/format.h"
#include "base/percent.h"
#include "base/result.h"
#include "base/text.h"
#include "base/time.h"
#include "codec/http_date.h"
#include "codec/kube_api.h"
#include "codec/kube_fence.h"
#include "runtime/deadline.h"
#include "runtime/http.h"
#include "runtime/http_client.h"
#include "runtime/http_lines.h"
#include "runtime/runtime.h"
#include "runtime/task.h"

namespace wardmote::act::reconcile {

namespace json = boost::json;
using runtime::Deadline;
using runtime::HttpCall;
using runtime::HttpResponse;
using runtime::Task;
using namespace std::chrono_literals;

namespace {

/// One request, within the deadline of the whole: a server that hangs is noticed while there is
/// time to ask again.
constexpr Duration kOneRequest = 20s;
constexpr int kMostTries = 5;
constexpr Duration kFirstPause = 100ms;
constexpr Duration kLongestPause = 30s;
constexpr std::size_t kAnswerBytes = std::size_t{32} << 20;
constexpr int kPage = 500;
/// The server ends a watch then, and another one goes on.
constexpr std::chrono::seconds kWatch = 50s;
constexpr int kGood = 200;
constexpr int kUnauthorized = 401;
constexpr int kForbidden = 403;
constexpr int kNotFound = 404;
constexpr int kGone = 410;
constexpr int kTooMany = 429;
constexpr int kServerError = 500;
constexpr int kUnavailable = 503;

std::optional<Duration> retry_after(const HttpResponse& answer, WallTime now) {
  for (const auto& [name, value] : answer.headers) {
    if (name != "retry-after") continue;
    if (const auto seconds = parse_number<std::uint32_t>(value))
      return std::min<Duration>(std::chrono::seconds(*seconds), kLongestPause);
    const auto date = codec::parse_http_date(value, now);
    if (date) return std::clamp<Duration>(*date - now, 0s, kLongestPause);
  }
  return std::nullopt;
}

}  // namespace

std::string describe(const KubeAnswer& answer) {
  const codec::KubeStatus status = codec::parse_kube_status(answer.body);
  return fmt::format("HTTP {}{}{}", answer.status, status.message.empty() ? "" : ": ",
                     status.message);
}

bool is_silence(Errc code) noexcept {
  return code == Errc::kTimeout || code == Errc::kRefused || code == Errc::kUnreachable ||
         code == Errc::kClosed || code == Errc::kNoResolver;
}

std::unexpected<Error> refused(const KubeAnswer& answer, std::string_view what) {
  Errc code = Errc::kRejected;
  if (answer.status == kUnauthorized || answer.status == kForbidden) code = Errc::kDenied;
  if (answer.status == kNotFound || answer.status == kGone) code = Errc::kMissing;
  return fail(code, "{}: {}", what, describe(answer));
}

Task<Result<void>> KubeClient::begin(WriteUntil write_until) {
  write_until_ = std::move(write_until);
  auto access = co_await login_.read();
  if (!access) co_return std::unexpected(access.error());
  access_ = *std::move(access);
  requests_ = 0;
  co_return Result<void>();
}

Task<bool> KubeClient::renew() {
  auto access = co_await login_.read();
  if (!access || *access == access_) co_return false;
  access_ = *std::move(access);
  co_return true;
}

HttpCall KubeClient::call_of(KubeRequest request) const {
  HttpCall call;
  call.method = std::move(request.method);
  call.url = access_.server + request.path;
  call.body = std::move(request.body);
  call.headers.emplace_back("Accept", "application/json");
  if (!request.content_type.empty())
    call.headers.emplace_back("Content-Type", std::move(request.content_type));
  if (!access_.token.empty()) call.headers.emplace_back("Authorization", "Bearer " + access_.token);
  if (actor_) {
    call.headers.emplace_back("Impersonate-User", actor_->user);
    call.headers.emplace_back(fmt::format("Impersonate-Extra-{}", codec::kFenceExtra),
                              fmt::format("{}", actor_->token));
  }
  call.trust_pem = access_.ca;
  call.certificate_pem = access_.certificate;
  call.key_pem = access_.key;
  call.answer_bytes = kAnswerBytes;
  return call;
}

Task<KubeClient::Answer> KubeClient::send(KubeRequest request, Deadline deadline) {
  std::optional<TimePoint> send_before;
  if (request.writes && write_until_) {
    send_before = write_until_();
    if (!send_before) co_return fail(Errc::kClosed, "this agent may not write any more");
  }
  HttpCall call = call_of(std::move(request));
  call.send_before = send_before;
  ++requests_;
  const Deadline one{std::min(deadline.at, runtime_.now() + kOneRequest)};
  Answer answer = co_await http_.call(std::move(call), one);
  co_return answer;
}

std::optional<Duration> KubeClient::again_after(const KubeRequest& request, const Answer& answer,
                                                int tries) {
  if (tries >= kMostTries) return std::nullopt;
  const bool reads = request.method == "GET";
  bool again = false;
  std::optional<Duration> asked;
  if (!answer) {
    const Errc code = answer.error().code;
    again = reads && code != Errc::kLimit && code != Errc::kInvalid && code != Errc::kDenied &&
            code != Errc::kUntrusted;
  } else if (answer->status == kTooMany || answer->status == kUnavailable) {
    again = true;
    asked = retry_after(*answer, runtime_.wall_now());
  } else {
    again = reads && answer->status >= kServerError;
  }
  if (!again) return std::nullopt;
  if (asked) return asked;
  constexpr std::uint64_t kParts = 1000;
  const Duration pause = kFirstPause * (1 << tries);
  return pause / 2 + (pause * static_cast<std::int64_t>(runtime_.random() % kParts)) / kParts;
}

Task<Result<KubeAnswer>> KubeClient::ask(KubeRequest request, Deadline deadline) {
  std::string what = request.method + " " + request.path.substr(0, request.path.find('?'));
  bool renewed = false;
  for (int tries = 0;; ++tries) {
    KubeRequest copy = request;
    Answer answer = co_await send(std::move(copy), deadline);
    if (answer && answer->status == kUnauthorized && !renewed) {
      renewed = co_await renew();
      if (renewed) continue;
    }
    const std::optional<Duration> pause = again_after(request, answer, tries);
    const bool late = pause && runtime_.now() + *pause >= deadline.at;
    if (!pause || late) {
      if (!answer) co_return with_context(answer, "{}", what);
      co_return KubeAnswer{answer->status, std::move(answer->body)};
    }
    co_await runtime_.sleep_until(runtime_.now() + *pause);
  }
}

Task<Result<KubeClient::Listed>> KubeClient::list_pages(std::string path, std::string selector,
                                                        int limit, Deadline deadline) {
  Listed listed;
  std::string next;
  for (;;) {
    KubeRequest request;
    request.path =
        fmt::format("{}?labelSelector={}&limit={}", path, percent_encode_value(selector), limit);
    if (!next.empty()) request.path += "&continue=" + percent_encode_value(next);
    const auto answer = co_await ask(std::move(request), deadline);
    if (!answer) co_return std::unexpected(answer.error());
    if (answer->status != kGood) co_return refused(*answer, "list " + path);
    auto page = codec::parse_kube_list(answer->body);
    if (!page) co_return with_context(page, "list {}", path);
    std::ranges::move(page->items, std::back_inserter(listed.objects));
    listed.version = std::move(page->version);
    // A server that gives the same token again would never end.
    if (page->next.empty()) co_return listed;
    if (page->next == next) co_return fail(Errc::kProtocol, "list {}: a page without an end", path);
    next = std::move(page->next);
  }
}

Task<Result<std::vector<codec::KubeEvent>>> KubeClient::watch(runtime::HttpLines* lines,
                                                              std::string path,
                                                              std::string selector,
                                                              std::string version) {
  KubeRequest request;
  request.path = fmt::format(
      "{}?watch=1&labelSelector={}&resourceVersion={}&timeoutSeconds={}&allowWatchBookmarks=true",
      path, percent_encode_value(selector), percent_encode_value(version), kWatch.count());
  HttpCall call = call_of(std::move(request));
  const auto answer =
      co_await lines->call_for_line(std::move(call), runtime_.deadline_in(kWatch + kOneRequest));
  std::vector<codec::KubeEvent> events;
  if (!answer) co_return with_context(answer, "watch {}", path);
  if (answer->status != kGood) co_return refused({answer->status, answer->body}, "watch " + path);
  std::string_view rest = answer->body;
  while (rest.contains('\n')) {
    auto event = codec::parse_kube_event(take_until(rest, '\n'));
    if (!event) co_return with_context(event, "watch {}", path);
    if (event->kind == codec::KubeEvent::Kind::kError)
      co_return fail(Errc::kMissing, "watch {}: it cannot go on", path);
    events.push_back(*std::move(event));
  }
  co_return events;
}

Task<Result<KubeClient::Listed>> KubeClient::list(std::string path, std::string selector,
                                                  Deadline deadline) {
  int limit = kPage;
  bool expired = false;
  for (;;) {
    std::string from = path;
    std::string selected = selector;
    auto found = co_await list_pages(std::move(from), std::move(selected), limit, deadline);
    if (found) co_return found;
    if (found.error().code == Errc::kLimit && limit > 1) {
      limit = std::max(1, limit / 10);
      continue;
    }
    // 410: the pages of so long ago are gone (`Expired`). From the beginning, once.
    const bool gone =
        found.error().code == Errc::kMissing && found.error().context.contains("HTTP 410");
    if (!gone || expired) co_return found;
    expired = true;
  }
}

Task<Result<std::optional<json::object>>> KubeClient::get(std::string path, Deadline deadline) {
  KubeRequest request;
  std::string what = "get " + path;
  request.path = std::move(path);
  const auto answer = co_await ask(std::move(request), deadline);
  if (!answer) co_return std::unexpected(answer.error());
  if (answer->status == kNotFound) co_return std::optional<json::object>();
  if (answer->status != kGood) co_return refused(*answer, what);
  auto object = codec::parse_kube_object(answer->body);
  if (!object) co_return with_context(object, "{}", what);
  co_return std::optional<json::object>(*std::move(object));
}

Task<Result<bool>> KubeClient::has(std::string path, Deadline deadline) {
  KubeRequest request;
  std::string what = "get " + path;
  request.path = std::move(path);
  const auto answer = co_await ask(std::move(request), deadline);
  if (!answer) co_return std::unexpected(answer.error());
  if (answer->status == kNotFound && codec::is_no_object(answer->body)) co_return false;
  if (answer->status != kGood) co_return refused(*answer, what);
  co_return true;
}

}  // namespace wardmote::act::reconcile
