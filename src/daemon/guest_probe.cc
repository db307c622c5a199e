#include "daemon/guest_probe.h"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <expected>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/result.h"
#include "base/text.h"
#include "base/time.h"
#include "codec/domain_xml.h"
#include "codec/qga.h"
#include "daemon/config_command.h"
#include "net/asio_runtime.h"
#include "net/libvirt/api.h"
#include "net/libvirt/hypervisor.h"
#include "runtime/deadline.h"
#include "runtime/hypervisor.h"
#include "runtime/task.h"

namespace wardmote::daemon {
namespace {

namespace json = boost::json;
using net::libvirt::Hypervisor;
using runtime::AgentAnswer;
using runtime::GuestEntry;
using runtime::Task;
using namespace std::chrono_literals;

constexpr int kSilent = 2;
constexpr int kUnknown = 3;
constexpr Duration kAsked = 5s;
/// libvirt waits five seconds for an agent before it looks at the timeout.
constexpr Duration kPatience = 6s;
// virDomainState
constexpr int kRunning = 1;

/// One answer, as it is printed.
struct Line {
  std::string what;
  std::string says;
};

struct Found {
  int exit_code = kUnknown;
  std::string name;
  std::string uuid;
  std::vector<Line> lines;
  void add(std::string what, std::string says) {
    lines.push_back({std::move(what), std::move(says)});
  }
};

std::string_view word(AgentAnswer::Kind kind) noexcept {
  switch (kind) {
    case AgentAnswer::Kind::kReply: return "answered";
    case AgentAnswer::Kind::kSilent: return "no answer";
    case AgentAnswer::Kind::kDisconnected: return "no agent has the port open";
    case AgentAnswer::Kind::kNotRunning: return "the guest does not run";
    case AgentAnswer::Kind::kGone: return "there is no such guest any more";
    case AgentAnswer::Kind::kBusy: return "somebody else's command is under way";
    case AgentAnswer::Kind::kNoChannel: return "the guest has no channel for an agent";
  }
  return "no answer";
}

int code_of(AgentAnswer::Kind kind) noexcept {
  switch (kind) {
    case AgentAnswer::Kind::kReply: return 0;
    case AgentAnswer::Kind::kGone:
    case AgentAnswer::Kind::kBusy: return kUnknown;
    default: return kSilent;
  }
}

std::string says_refused(const Error& error, std::string_view reply) {
  // Not of the protocol: libvirt's own words for a refusal.
  return error.code == Errc::kProtocol ? escape_control(reply, 200) : error.describe();
}

std::string says_file_systems(std::string_view reply) {
  const auto all = codec::parse_fsinfo(reply);
  if (!all) return says_refused(all.error(), reply);
  std::string text;
  for (const codec::QgaFileSystem& one : *all) {
    const double share =
        one.total == 0 ? 0 : static_cast<double>(one.used) / static_cast<double>(one.total) * 100;
    text += fmt::format("{}{} ({}) {:.0f} % full", text.empty() ? "" : ", ",
                        escape_control(one.mountpoint, 128), escape_control(one.type, 64), share);
  }
  return text.empty() ? "none" : text;
}

std::string says_clock(std::string_view reply, Duration took, WallTime now) {
  const auto time = codec::parse_guest_time(reply);
  if (!time) return says_refused(time.error(), reply);
  const Duration ahead = *time - (now.time_since_epoch() - took / 2);
  const Duration size = ahead < Duration::zero() ? -ahead : ahead;
  return fmt::format("{} {} the host's clock", format_duration(size),
                     ahead < Duration::zero() ? "behind" : "before");
}

std::string says_frozen(std::string_view reply) {
  const auto frozen = codec::parse_freeze_status(reply);
  if (!frozen) return says_refused(frozen.error(), reply);
  return *frozen ? "frozen" : "thawed";
}

class Probe {
 public:
  Probe(net::AsioRuntime& runtime, Hypervisor& hypervisor, const GuestProbeOrder& order)
      : runtime_(runtime), hypervisor_(hypervisor), order_(order) {}

  Task<Result<Found>> look() {
    const runtime::Deadline soon = runtime_.deadline_in(kAsked);
    const auto entries = co_await hypervisor_.list(soon);
    if (!entries) co_return std::unexpected(entries.error());
    const auto entry = std::ranges::find_if(*entries, [this](const GuestEntry& one) {
      return one.name == order_.domain || one.uuid == order_.domain;
    });
    if (entry == entries->end())
      co_return fail(Errc::kMissing, "{}: no guest '{}' runs", order_.uri,
                     escape_control(order_.domain, 128));
    found_.name = entry->name;
    found_.uuid = entry->uuid;
    found_.add("running", entry->run == kRunning ? "yes" : "no");
    const runtime::Deadline later = runtime_.deadline_in(kAsked);
    const auto xml = co_await hypervisor_.describe(found_.uuid, later);
    if (xml) take_channel(*xml);
    co_await ask_all();
    co_return found_;
  }

 private:
  void take_channel(const std::string& xml) {
    const auto parsed = codec::parse_domain_xml(xml);
    const codec::DomainChannel* const channel = parsed ? parsed->agent() : nullptr;
    found_.add("channel", channel == nullptr ? "none" : escape_control(channel->state, 64));
  }

  Task<void> ask_all() {
    const Result<AgentAnswer> ping = co_await ask(codec::kGuestPing);
    found_.exit_code = ping ? code_of(ping->kind) : kSilent;
    if (!ping && ping.error().code != Errc::kTimeout) found_.exit_code = kUnknown;
    found_.add("guest-ping",
               ping ? fmt::format("{} after {}", word(ping->kind), format_duration(took_))
                    : ping.error().describe());
    if (found_.exit_code != 0) co_return;
    const Result<AgentAnswer> frozen = co_await ask(codec::kGuestFreezeStatus);
    if (frozen) found_.add("guest-fsfreeze-status", says_frozen(frozen->text));
    const Result<AgentAnswer> time = co_await ask(codec::kGuestGetTime);
    if (time) found_.add("guest-get-time", says_clock(time->text, took_, runtime_.wall_now()));
    const Result<AgentAnswer> mounted = co_await ask(codec::kGuestGetFsInfo);
    if (mounted) found_.add("guest-get-fsinfo", says_file_systems(mounted->text));
  }

  Task<Result<AgentAnswer>> ask(std::string_view command) {
    const TimePoint begun = runtime_.now();
    const runtime::Deadline begun_by = runtime_.deadline_in(kAsked);
    runtime::AgentOrder asked{.uuid = found_.uuid,
                              .command = std::string(command),
                              .timeout = order_.timeout,
                              .patience = order_.timeout + kPatience,
                              .ended = {}};
    Result<AgentAnswer> answer = co_await hypervisor_.ask_agent(std::move(asked), begun_by);
    took_ = runtime_.now() - begun;
    co_return answer;
  }

  net::AsioRuntime& runtime_;
  Hypervisor& hypervisor_;
  const GuestProbeOrder& order_;
  Found found_;
  Duration took_{};
};

Task<Result<Found>> look(net::AsioRuntime* runtime, Hypervisor* hypervisor,
                         const GuestProbeOrder* order) {
  Probe probe(*runtime, *hypervisor, *order);
  Result<Found> found = co_await probe.look();
  co_await hypervisor->stop();
  co_return found;
}

std::string text_of(const Found& found, bool as_json) {
  if (as_json) {
    json::object object{{"guest", escape_control(found.name, 255)}, {"uuid", found.uuid}};
    for (const Line& line : found.lines) object[line.what] = line.says;
    return json::serialize(object) + "\n";
  }
  std::string text = fmt::format("{} ({})\n", escape_control(found.name, 255), found.uuid);
  for (const Line& line : found.lines) text += fmt::format("  {:<22} {}\n", line.what, line.says);
  return text;
}

}  // namespace

ConfigAnswer run_guest_probe(const GuestProbeOrder& order) {
  const auto api = net::libvirt::Api::load();
  if (!api) return {.exit_code = kUnknown, .errors = api.error().describe() + "\n"};
  net::AsioRuntime runtime;
  Hypervisor hypervisor(runtime, **api, {.uri = order.uri, .response_timeout = {}});
  const Result<Found> found = net::run_task(runtime, look(&runtime, &hypervisor, &order));
  if (!found) {
    return {.exit_code = kUnknown,
            .errors = fmt::format("wardmoted: {}\n", escape_control(found.error().describe()))};
  }
  return {.exit_code = found->exit_code, .output = text_of(*found, order.json)};
}

}  // namespace wardmote::daemon
