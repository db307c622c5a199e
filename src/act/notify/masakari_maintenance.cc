#include "act/notify/masakari_maintenance.h"

#include <algorithm>
#include <cstddef>
#include <expected>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "act/notify/masakari_client.h"
#include "act/notify/masakari_session.h"
#include "base/format.h"
#include "base/log.h"
#include "base/result.h"
#include "base/text.h"
#include "base/time.h"
#include "codec/masakari.h"
#include "runtime/deadline.h"
#include "runtime/http_client.h"
#include "runtime/runtime.h"
#include "runtime/task.h"

namespace wardmote::act::notify {

using codec::MasakariItem;
using runtime::Deadline;
using runtime::Task;
using namespace std::chrono_literals;

namespace {

constexpr Duration kEvery = 30s;
/// Keystone and Masakari may each take some seconds.
constexpr Duration kPatience = 20s;
constexpr Duration kHolds = 10min;
/// Masakari lists so many at most (`osapi_max_limit`).
constexpr std::size_t kPage = 1000;
constexpr int kMostPages = 20;

}  // namespace

MasakariMaintenance::MasakariMaintenance(runtime::Runtime& runtime, runtime::HttpClient& http,
                                         MasakariSession::Source source,
                                         MasakariSession::ReadSecret read_secret, std::string node)
    : runtime_(runtime),
      source_(std::move(source)),
      session_(runtime, http, std::move(read_secret)),
      node_(std::move(node)),
      tasks_(runtime.executor()) {}

void MasakariMaintenance::start() {
  tasks_.spawn("masakari maintenance", follow());
}

Task<void> MasakariMaintenance::stop() {
  co_await tasks_.stop();
}

bool MasakariMaintenance::is_on() const {
  return said_ && said_->on && runtime_.now() - said_->at < kHolds;
}

Task<void> MasakariMaintenance::follow() {
  for (;;) {
    std::optional<MasakariOptions> options = source_();
    if (options) {
      co_await ask(*std::move(options));
    } else {
      session_.forget();
      said_.reset();
    }
    co_await runtime_.sleep_until(runtime_.now() + kEvery);
  }
}

Task<void> MasakariMaintenance::ask(MasakariOptions options) {
  std::string name = options.host.empty() ? node_ : options.host;
  // Whoever fails may have a secret that was changed since.
  const bool other = !session_.knows(options);
  if (other) said_.reset();
  if (other || failing_) {
    session_.renew();
    segment_.clear();
  }
  const Result<MasakariClient*> client = session_.client(std::move(options));
  if (!client) {
    note(std::unexpected(client.error()));
    co_return;
  }
  client_ = *client;
  const Result<bool> answer = co_await find_host(std::move(name), runtime_.deadline_in(kPatience));
  note(answer);
}

Task<Result<bool>> MasakariMaintenance::find_host(std::string name, Deadline deadline) {
  std::vector<std::string> segments;
  if (!segment_.empty()) {
    segments.push_back(segment_);
  } else {
    auto listed = co_await list("/segments", "segments", deadline);
    if (!listed) co_return std::unexpected(listed.error());
    for (MasakariItem& segment : *listed) segments.push_back(std::move(segment.uuid));
  }
  for (const std::string& segment : segments) {
    auto hosts = co_await list(fmt::format("/segments/{}/hosts", segment), "hosts", deadline);
    if (!hosts) co_return std::unexpected(hosts.error());
    const auto own = std::ranges::find(*hosts, name, &MasakariItem::name);
    if (own == hosts->end()) continue;
    if (!own->on_maintenance)
      co_return fail(Errc::kProtocol, "masakari: the host has no on_maintenance");
    segment_ = segment;
    co_return *own->on_maintenance;
  }
  // It may be in another one now.
  const bool again = !std::exchange(segment_, std::string()).empty();
  if (!again)
    co_return fail(Errc::kMissing, "masakari: no failover segment has the host '{}'",
                   escape_control(name, 64));
  Result<bool> found = co_await find_host(std::move(name), deadline);
  co_return found;
}

Task<Result<std::vector<MasakariItem>>> MasakariMaintenance::list(std::string path,
                                                                  std::string name,
                                                                  Deadline deadline) {
  std::vector<MasakariItem> all;
  for (int page = 0; page < kMostPages; ++page) {
    std::string from = all.empty() ? path : fmt::format("{}?marker={}", path, all.back().uuid);
    const MasakariClient::Answer answer =
        co_await client_->call("GET", std::move(from), "", deadline);
    if (!answer) co_return fail(Errc::kUnreachable, "{}", answer.error().reason);
    if (answer->status != 200)
      co_return fail(Errc::kProtocol, "masakari: GET {}: HTTP {}", path, answer->status);
    auto items = codec::parse_masakari_list(answer->body, name);
    if (!items) co_return std::unexpected(items.error());
    const bool last = items->size() < kPage;
    std::ranges::move(*items, std::back_inserter(all));
    if (last) break;
  }
  co_return all;
}

void MasakariMaintenance::note(const Result<bool>& answer) {
  if (!answer) {
    if (!std::exchange(failing_, true))
      log(LogLevel::kWarning, "maintenance_not_known", {{"reason", answer.error().describe()}});
    return;
  }
  failing_ = false;
  if (said_.value_or(Said()).on != *answer)
    log(LogLevel::kInfo, *answer ? "maintenance_begun" : "maintenance_ended", {{"by", "masakari"}});
  said_ = Said{*answer, runtime_.now()};
}

}  // namespace wardmote::act::notify
