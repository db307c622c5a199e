#include "agent/servers.h"

#include <sys/resource.h>

#include <algorithm>
#include <cstddef>
#include <expected>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include "base/log.h"
#include "base/result.h"
#include "base/time.h"
#include "config/config.h"
#include "net/http_server.h"
#include "runtime/endpoint.h"
#include "runtime/http.h"
#include "runtime/runtime.h"
#include "runtime/task.h"
#include "serve/event_stream.h"

namespace wardmote::agent {

using runtime::Endpoint;
using runtime::Task;
using namespace std::chrono_literals;

namespace {

/// Enough for every reader of events, and for as many who ask.
constexpr std::size_t kMostConnections = 2 * serve::EventStream::kReaders;
/// Each of two addresses has this part of the descriptors that the process may have at most, so
/// that looks and the database have the other half.
constexpr std::size_t kPart = 4;

runtime::HttpLimits limits_here() {
  runtime::HttpLimits limits{.connections = kMostConnections};
  rlimit descriptors{};
  if (::getrlimit(RLIMIT_NOFILE, &descriptors) != 0) return limits;
  const std::size_t share = static_cast<std::size_t>(descriptors.rlim_cur) / kPart;
  if (share >= limits.connections + limits.reserve) return limits;
  limits.reserve = std::min(limits.reserve, share / kPart);
  limits.connections = std::max<std::size_t>(share - limits.reserve, 1);
  return limits;
}

constexpr Duration kDrainTime = 1s;
constexpr Duration kDrainStep = 5ms;

Task<void> stop_server(std::unique_ptr<runtime::HttpServer> server) {
  co_await server->stop();
}

bool same_address(const Endpoint& a, const Endpoint& b) {
  const bool both_files = a.kind == Endpoint::Kind::kUnix && b.kind == Endpoint::Kind::kUnix;
  const bool no_file = a.kind != Endpoint::Kind::kUnix && b.kind != Endpoint::Kind::kUnix;
  return (both_files && a.path == b.path) || (no_file && a.host == b.host && a.port == b.port);
}

}  // namespace

Servers::Servers(runtime::Runtime& runtime, runtime::HttpHandler handler,
                 runtime::HttpAdmission admission)
    : runtime_(runtime),
      handler_(std::move(handler)),
      admission_(std::move(admission)),
      closing_(runtime.executor()) {}

Result<void> Servers::open(const config::Api& api) {
  std::vector<Served> begun;
  Result<void> opened;
  for (const auto& endpoint : {api.listen, api.socket}) {
    if (!opened || !endpoint || at_address(*endpoint) != nullptr) continue;
    Result<Served> served = serve(*endpoint);
    if (served) {
      begun.push_back(*std::move(served));
    } else {
      opened = std::unexpected(served.error());
    }
  }
  // Last, because it cannot be undone; only `listen` has TLS, so it is the only one.
  Served* const standing = opened && api.listen ? at_address(*api.listen) : nullptr;
  if (standing != nullptr && standing->at != *api.listen) {
    opened = standing->server->change_to(*api.listen);
    if (opened) {
      log(LogLevel::kInfo, "serving", {{"api", to_string(*api.listen)}});
      standing->at = *api.listen;
    }
  }
  if (!opened) {
    close(std::move(begun));
    return opened;
  }
  std::ranges::move(begun, std::back_inserter(servers_));
  return {};
}

void Servers::retire(const config::Api& api) {
  std::vector<Served> stay;
  std::vector<Served> end;
  for (Served& served : servers_) {
    const bool named = served.at == api.listen || served.at == api.socket;
    if (!named) log(LogLevel::kInfo, "serving_ends", {{"api", to_string(served.at)}});
    (named ? stay : end).push_back(std::move(served));
  }
  servers_ = std::move(stay);
  close(std::move(end));
}

Task<void> Servers::stop() {
  close(std::exchange(servers_, {}));
  const TimePoint limit = runtime_.now() + kDrainTime;
  while (closing_.size() > 0 && runtime_.now() < limit) {
    co_await runtime_.sleep_until(runtime_.now() + kDrainStep);
  }
  co_await closing_.stop();
}

Servers::Served* Servers::at_address(const Endpoint& at) {
  const auto found = std::ranges::find_if(
      servers_, [&](const Served& served) { return same_address(served.at, at); });
  return found == servers_.end() ? nullptr : &*found;
}

Result<Servers::Served> Servers::serve(const Endpoint& at) {
  auto server = std::make_unique<net::StreamHttpServer>(runtime_);
  const Result<void> started = server->start(at, limits_here(), handler_, admission_);
  if (!started) return with_context(started, "api {}", to_string(at));
  log(LogLevel::kInfo, "serving", {{"api", to_string(at)}});
  return Served{at, std::move(server)};
}

void Servers::close(std::vector<Served> servers) {
  for (Served& served : servers) closing_.spawn("close API", stop_server(std::move(served.server)));
}

}  // namespace wardmote::agent
