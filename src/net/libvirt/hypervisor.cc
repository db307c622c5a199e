#include "net/libvirt/hypervisor.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <expected>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "codec/domain_stats.h"
#include "net/libvirt/api.h"
#include "net/libvirt/call.h"
#include "net/libvirt/call_pool.h"
#include "net/libvirt/event_sink.h"
#include "runtime/deadline.h"
#include "runtime/hypervisor.h"
#include "runtime/runtime.h"
#include "runtime/task.h"

namespace wardmote::net::libvirt {

using runtime::AgentAnswer;
using runtime::AgentOrder;
using runtime::Deadline;
using runtime::GuestCounts;
using runtime::GuestEntry;
using runtime::HypervisorEvent;
using runtime::Task;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t kMostTold = 10'000;
constexpr Duration kShortestPause = 1s;
constexpr Duration kLongestPause = 30s;

std::vector<codec::StatsField> fields_of(const virDomainStatsRecord& record) {
  std::vector<codec::StatsField> fields;
  for (int i = 0; i < record.nparams; ++i) {
    const virTypedParameter& one = record.params[i];
    const std::string_view field(one.field, std::size(one.field));
    const std::string_view name = field.substr(0, field.find('\0'));
    // virTypedParameterType
    if (one.type == 1 && one.value.i >= 0)
      fields.push_back({name, static_cast<std::uint64_t>(one.value.i)});
    if (one.type == 2) fields.push_back({name, one.value.ui});
    if (one.type == 3 && one.value.l >= 0)
      fields.push_back({name, static_cast<std::uint64_t>(one.value.l)});
    if (one.type == 4) fields.push_back({name, one.value.ul});
  }
  return fields;
}

/// Records that are released again.
class Stats {
 public:
  Stats(const Api& api, virDomainStatsRecord** records, int count)
      : records_(records, api.free_stats), count_(static_cast<std::size_t>(std::max(count, 0))) {}
  [[nodiscard]] std::size_t size() const noexcept { return count_; }
  [[nodiscard]] const virDomainStatsRecord& operator[](std::size_t i) const {
    return *records_.get()[i];
  }

 private:
  std::unique_ptr<virDomainStatsRecord*, void (*)(virDomainStatsRecord**)> records_;
  std::size_t count_;
};

Result<std::vector<GuestEntry>> list_all(const Api& api, virConnect* connection, bool& broken) {
  virDomainStatsRecord** records = nullptr;
  const int count = api.all_stats(connection, kStatsState, &records, kStatsActive | kStatsNoWait);
  if (count < 0) return failed(api, broken);
  const Stats all(api, records, count);
  std::vector<GuestEntry> entries;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const codec::DomainStats stats = codec::sum_domain_stats(fields_of(all[i]));
    std::array<char, 37> uuid{};
    api.domain_uuid(all[i].dom, uuid.data());
    entries.push_back({.uuid = uuid.data(),
                       .name = api.domain_name(all[i].dom),
                       .run = static_cast<int>(stats.state.value_or(0)),
                       .reason = static_cast<int>(stats.reason.value_or(0)),
                       .id = static_cast<int>(api.domain_id(all[i].dom))});
  }
  return entries;
}

Result<codec::DomainStats> stats_of(const Api& api, virDomain* domain, unsigned kinds,
                                    bool& broken) {
  std::array<virDomain*, 2> only = {domain, nullptr};
  virDomainStatsRecord** records = nullptr;
  const int count = api.list_stats(only.data(), kinds, &records, kStatsNoWait);
  if (count < 0) return failed(api, broken);
  const Stats all(api, records, count);
  if (all.size() == 0) return codec::DomainStats();
  return codec::sum_domain_stats(fields_of(all[0]));
}

/// What libvirt says when an agent's command failed.
Result<AgentAnswer> answer_of(const Api& api, virConnect* connection, bool& broken) {
  using enum AgentAnswer::Kind;
  LastError last = last_error(api);
  // Else what libvirt says of the connection would be an answer of the guest.
  if (is_dead(api, connection)) {
    broken = true;
    return std::unexpected(error_of(last));
  }
  const bool closed = last.text.contains("not connected");
  switch (last.code) {
    case kAgentUnresponsive:
      return AgentAnswer{closed ? kDisconnected : kSilent, std::move(last.text)};
    case kOperationInvalid: return AgentAnswer{kNotRunning, std::move(last.text)};
    case kNoDomain: return AgentAnswer{kGone, std::move(last.text)};
    // Somebody else's command, or the rest of one.
    case kOperationTimeout:
    case kAgentUnsynced: return AgentAnswer{kBusy, std::move(last.text)};
    case kArgumentUnsupported: return AgentAnswer{kNoChannel, std::move(last.text)};
    // "unable to execute QEMU agent command": it was executed, and refused.
    case kInternalError: return AgentAnswer{kReply, std::move(last.text)};
    default: broken = blames_connection(last.code); return std::unexpected(error_of(last));
  }
}

int whole_seconds(Duration time) {
  return static_cast<int>(std::max<std::int64_t>(1, (to_ms(time) + 999) / 1000));
}

}  // namespace

Hypervisor::Hypervisor(runtime::Runtime& runtime, const Api& api, Options options)
    : runtime_(runtime),
      api_(api),
      options_(std::move(options)),
      mailbox_(std::make_shared<Mailbox>(runtime.executor())),
      subscription_(std::make_shared<EventSubscription>(
          mailbox_, [this](HypervisorEvent event) { hear(std::move(event)); })),
      watching_(api, options_.uri, 1),
      asking_(api, options_.uri, 1),
      counting_(api, options_.uri, 1),
      acting_(api, options_.uri, 1),
      fast_(api, options_.uri, options_.fast_connections),
      slow_(api, options_.uri, options_.slow_connections),
      changed_(runtime.executor()),
      tasks_(runtime.executor()) {}

Hypervisor::~Hypervisor() = default;

void Hypervisor::start() {
  tasks_.spawn("libvirt " + options_.uri, keep_connected());
}

Task<void> Hypervisor::stop() {
  mailbox_->close();
  co_await tasks_.stop();
}

void Hypervisor::hear(HypervisorEvent event) {
  event.at = runtime_.now();
  if (std::holds_alternative<HypervisorEvent::Lost>(event.what)) {
    if (!connected_ && settled_) return;
    connected_ = false;
    settled_ = true;
  }
  if (std::holds_alternative<HypervisorEvent::Connected>(event.what)) {
    connected_ = true;
    settled_ = true;
  }
  if (told_.size() >= kMostTold) {
    told_.clear();
    told_.push_back({.uuid = {}, .name = {}, .at = event.at, .what = HypervisorEvent::Connected{}});
  }
  told_.push_back(std::move(event));
  changed_.notify();
}

Task<std::vector<HypervisorEvent>> Hypervisor::events() {
  while (told_.empty()) co_await changed_.wait();
  std::vector<HypervisorEvent> all(std::make_move_iterator(told_.begin()),
                                   std::make_move_iterator(told_.end()));
  told_.clear();
  co_return all;
}

/// Ends in Connected or Lost, however long that takes.
void Hypervisor::subscribe() {
  settled_ = false;
  const auto tell = [this](HypervisorEvent event) { hear(std::move(event)); };
  const auto post = [mailbox = mailbox_, tell](HypervisorEvent event) {
    mailbox->post([tell, told = std::move(event)]() mutable { tell(std::move(told)); });
  };
  watching_.submit(std::make_shared<CallPool::Ticket>(), [api = &api_, subscription = subscription_,
                                                          post](Result<virConnect*> opened) {
    Result<void> begun;
    if (!opened) {
      begun = std::unexpected(opened.error());
    } else {
      begun = subscription->begin(*api, *opened);
    }
    HypervisorEvent event{.uuid = {}, .name = {}, .at = {}, .what = HypervisorEvent::Connected{}};
    if (!begun) event.what = HypervisorEvent::Lost{begun.error()};
    return CallPool::Outcome{!begun,
                             [post, told = std::move(event)]() mutable { post(std::move(told)); }};
  });
}

void Hypervisor::unsubscribe() {
  watching_.submit(std::make_shared<CallPool::Ticket>(),
                   [api = &api_, subscription = subscription_](Result<virConnect*> opened) {
                     if (opened) subscription->end(*api, *opened);
                     return CallPool::Outcome{.broken = true, .tell = {}};
                   });
}

Task<void> Hypervisor::keep_connected() {
  Duration pause = kShortestPause;
  for (;;) {
    subscribe();
    while (!settled_) co_await changed_.wait();
    if (connected_) {
      pause = kShortestPause;
      while (connected_) co_await changed_.wait();
      unsubscribe();
    }
    // Between a half of it and all: not everybody comes back at the same moment.
    const auto part = static_cast<Duration::rep>(runtime_.random() % 1000);
    const TimePoint again = runtime_.now() + pause / 2 + pause / 2000 * part;
    co_await runtime_.sleep_until(again);
    pause = std::min(pause * 2, kLongestPause);
  }
}

Task<Result<std::vector<GuestEntry>>> Hypervisor::list(Deadline deadline) {
  std::function<Result<std::vector<GuestEntry>>(virConnect*, bool&)> work =
      [api = &api_](virConnect* connection, bool& broken) {
        return list_all(*api, connection, broken);
      };
  Result<std::vector<GuestEntry>> all = co_await call<std::vector<GuestEntry>>(
      &runtime_, &asking_, mailbox_, std::move(work), {}, deadline);
  co_return all;
}

Task<Result<std::string>> Hypervisor::describe(std::string uuid, Deadline deadline) {
  std::function<Result<std::string>(virConnect*, bool&)> work =
      [api = &api_, uuid = std::move(uuid)](virConnect* connection,
                                            bool& broken) -> Result<std::string> {
    const auto domain = look_up(*api, connection, uuid, broken);
    if (!domain) return std::unexpected(domain.error());
    char* const xml = api->domain_xml(domain->get(), 0);
    if (xml == nullptr) return failed(*api, broken);
    std::string text(xml);
    std::free(xml);  // NOLINT(cppcoreguidelines-no-malloc): libvirt's
    return text;
  };
  Result<std::string> xml =
      co_await call<std::string>(&runtime_, &asking_, mailbox_, std::move(work), {}, deadline);
  co_return xml;
}

Task<Result<void>> Hypervisor::knock(Deadline deadline) {
  // Served by the same workers of the daemon as the agents' commands are.
  std::function<Result<std::uint64_t>(virConnect*, bool&)> work =
      [api = &api_](virConnect* connection, bool& broken) -> Result<std::uint64_t> {
    const std::uint64_t free = api->free_memory(connection);
    if (free != 0) return free;
    const LastError last = last_error(*api);
    broken = blames_connection(last.code) || is_dead(*api, connection);
    // A driver that does not know its memory has answered all the same.
    if (!broken) return free;
    return std::unexpected(error_of(last));
  };
  const Result<std::uint64_t> free =
      co_await call<std::uint64_t>(&runtime_, &asking_, mailbox_, std::move(work), {}, deadline);
  if (!free) co_return std::unexpected(free.error());
  co_return Result<void>();
}

Task<Result<AgentAnswer>> Hypervisor::ask_agent(AgentOrder order, Deadline begun_by) {
  if (!under_way_.insert(order.uuid).second) {
    if (order.ended) order.ended();
    co_return fail(Errc::kLimit, "libvirt: the last command is still under way");
  }
  std::function<void()> ended = [this, uuid = order.uuid, told = std::move(order.ended)] {
    under_way_.erase(uuid);
    if (told) told();
  };
  const int response =
      options_.response_timeout > Duration::zero() ? whole_seconds(options_.response_timeout) : 0;
  std::function<Result<AgentAnswer>(virConnect*, bool&)> work =
      [api = &api_, uuid = std::move(order.uuid), command = std::move(order.command), response,
       seconds = whole_seconds(order.timeout)](virConnect* connection,
                                               bool& broken) -> Result<AgentAnswer> {
    const auto domain = look_up(*api, connection, uuid, broken);
    if (!domain) {
      if (domain.error().code != Errc::kMissing) return std::unexpected(domain.error());
      return AgentAnswer{AgentAnswer::Kind::kGone, domain.error().context};
    }
    if (response > 0) api->agent_timeout(domain->get(), response, 0);
    char* const reply = api->agent_command(domain->get(), command.c_str(), seconds, 0);
    if (reply == nullptr) return answer_of(*api, connection, broken);
    AgentAnswer answer{AgentAnswer::Kind::kReply, reply};
    std::free(reply);  // NOLINT(cppcoreguidelines-no-malloc): libvirt's
    return answer;
  };
  CallPool* const pool = order.lane == Lane::kSlow ? &slow_ : &fast_;
  Result<AgentAnswer> answer = co_await call<AgentAnswer>(
      &runtime_, pool, mailbox_, std::move(work), std::move(ended), begun_by, order.patience);
  co_return answer;
}

Task<Result<GuestCounts>> Hypervisor::counts(std::string uuid, bool ask_qemu, Deadline deadline) {
  std::function<Result<GuestCounts>(virConnect*, bool&)> work =
      [api = &api_, uuid = std::move(uuid), ask_qemu](virConnect* connection,
                                                      bool& broken) -> Result<GuestCounts> {
    const auto domain = look_up(*api, connection, uuid, broken);
    if (!domain) return std::unexpected(domain.error());
    const unsigned kinds = kStatsCpu | kStatsInterface | (ask_qemu ? kStatsBlock : 0U);
    const auto stats = stats_of(*api, domain->get(), kinds, broken);
    if (!stats) return std::unexpected(stats.error());
    return GuestCounts{stats->cpu, stats->disk_requests, stats->sent_packets};
  };
  Result<GuestCounts> counts =
      co_await call<GuestCounts>(&runtime_, &counting_, mailbox_, std::move(work), {}, deadline);
  co_return counts;
}

}  // namespace wardmote::net::libvirt
