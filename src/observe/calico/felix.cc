#include "observe/calico/felix.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "base/text.h"
#include "codec/go_http.h"
#include "codec/http_answer.h"
#include "observe/reason.h"
#include "runtime/deadline.h"
#include "runtime/endpoint.h"
#include "runtime/runtime.h"
#include "runtime/stream.h"
#include "runtime/task.h"

namespace wardmote::observe::calico {

using runtime::Deadline;
using runtime::Endpoint;
using runtime::Runtime;
using runtime::Task;

namespace {

constexpr int kMaxRedirects = 10;
struct Place {
  Endpoint at;
  std::string path;
};

bool is_redirect(int status) noexcept {
  constexpr auto kRedirects = std::to_array({301, 302, 303, 307, 308});
  return std::ranges::find(kRedirects, status) != kRedirects.end();
}

Result<Endpoint> endpoint_of(const FelixTarget& target) {
  const auto port = parse_number<std::uint16_t>(target.port);
  if (!port || *port == 0)
    return fail(Errc::kInvalid, "FELIX_HEALTHPORT '{}' is not a port", escape_control(target.port));
  std::string host = target.host;
  if (host.size() > 1 && host.starts_with('[') && host.ends_with(']'))
    host = host.substr(1, host.size() - 2);
  const bool v6 = host.contains(':');
  return runtime::parse_endpoint(v6 ? fmt::format("tcp:[{}]:{}", host, *port)
                                    : fmt::format("tcp:{}:{}", host, *port));
}

/// Where a Location header leads. kInvalid when that is not http.
Result<Place> resolve(std::string_view location, const Place& from) {
  if (location.starts_with('/') && !location.starts_with("//"))
    return Place{from.at, std::string(location)};
  std::string_view rest = location;
  if (!consume_prefix(rest, "http://")) {
    return fail(Errc::kInvalid, "redirects to '{}'", escape_control(location, 120));
  }
  const std::size_t slash = std::min(rest.find('/'), rest.size());
  std::string authority(rest.substr(0, slash));
  const std::string_view after_brackets =
      std::string_view(authority).substr(std::min(authority.find(']'), authority.size() - 1));
  if (!authority.empty() && !after_brackets.contains(':')) authority += ":80";
  Result<Endpoint> at = runtime::parse_endpoint("tcp:" + authority);
  if (!at) return std::unexpected(at.error());
  return Place{*std::move(at), slash == rest.size() ? "/" : std::string(rest.substr(slash))};
}

/// The part of an answer that counts: its header.
struct Head {
  int status = 0;
  std::string location;  ///< empty when there is no Location
};

std::string where(const Place& place) {
  return to_string(place.at).substr(std::string_view("tcp:").size());
}

Task<Result<std::unique_ptr<runtime::Stream>>> ask(Runtime* runtime, Place place,
                                                   Deadline deadline) {
  auto stream = co_await runtime->connect(place.at, deadline);
  if (!stream) co_return std::unexpected(connect_failure(place.at, stream.error()));
  const std::string request =
      codec::format_http_request("GET", place.path, where(place), false, {});
  const Result<void> sent = co_await (*stream)->write(request, deadline);
  if (!sent) co_return with_context(sent, "{}", where(place));
  co_return std::move(*stream);
}

Task<Result<Head>> get(Runtime* runtime, Place place, Deadline deadline) {
  const auto stream = co_await ask(runtime, place, deadline);
  if (!stream) co_return std::unexpected(stream.error());
  codec::HttpAnswerReader reader;
  for (bool anything = false;; anything = true) {
    std::array<char, 4096> chunk;
    const Result<std::size_t> got = co_await (*stream)->read_some(chunk, deadline);
    if (!got)
      co_return with_context(got, "{}: {}", where(place),
                             anything ? "half an answer" : "no answer");
    const Result<void> taken = reader.take(std::string_view(chunk.data(), *got));
    // A body with wrong framing does not change the verdict of a good header.
    if (reader.has_head()) {
      co_return Head{reader.answer().status, std::string(reader.answer().header("location"))};
    }
    if (!taken) co_return with_context(taken, "{}", where(place));
  }
}

/// By the rules of Go, with errors in its words.
Task<Result<Head>> get_as_go(Runtime* runtime, Place place, Deadline deadline) {
  const auto stream = co_await ask(runtime, place, deadline);
  if (!stream) co_return std::unexpected(stream.error());
  codec::GoHttpReader reader;
  for (;;) {
    std::array<char, 4096> chunk;
    const Result<std::size_t> got = co_await (*stream)->read_some(chunk, deadline);
    Result<void> taken;
    if (got) {
      taken = reader.take(std::string_view(chunk.data(), *got));
    } else if (got.error().code == Errc::kClosed) {
      taken = reader.closed();
    } else {
      taken = std::unexpected(got.error());
    }
    if (!taken) co_return std::unexpected(taken.error());
    if (reader.has_head()) co_return Head{reader.status(), reader.location()};
  }
}

}  // namespace

Task<Result<int>> felix_status(Runtime* runtime, FelixTarget target, std::string path,
                               Deadline deadline) {
  Result<Endpoint> at = endpoint_of(target);
  if (!at) co_return std::unexpected(at.error());
  Place place{*std::move(at), "/" + path};
  for (int redirects = 0; redirects <= kMaxRedirects; ++redirects) {
    Result<Head> head = std::unexpected(Error{});
    if (target.as_go) {
      head = co_await get_as_go(runtime, place, deadline);
    } else {
      head = co_await get(runtime, place, deadline);
    }
    if (!head) co_return std::unexpected(head.error());
    if (!is_redirect(head->status) || head->location.empty()) co_return head->status;
    Result<Place> next = resolve(head->location, place);
    if (!next) co_return std::unexpected(next.error());
    if (!target.as_go && next->at != place.at) {
      co_return fail(Errc::kInvalid, "it redirects to another host: '{}'",
                     escape_control(head->location, 120));
    }
    place = *std::move(next);
  }
  co_return fail(Errc::kRejected, "stopped after {} redirects", kMaxRedirects);
}

}  // namespace wardmote::observe::calico
