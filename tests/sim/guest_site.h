#pragma once
// An agent that watches a fake host, on a disk that outlives it, and whoever it tells.

#include <gtest/gtest.h>

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "act/notify/channel.h"
#include "agent/agent.h"
#include "agent/domains.h"
#include "agent/guests/guest_watch.h"
#include "agent/service_manager.h"
#include "base/check.h"
#include "base/format.h"
#include "config/config.h"
#include "incidents/notifier.h"
#include "judge/finding.h"
#include "judge/notify/notice.h"
#include "judge/notify/router.h"
#include "observe/guests/instance_events.h"
#include "observe/kinds.h"
#include "runtime/hypervisor.h"
#include "serve/guest/guest_view.h"
#include "sim/asked_agent.h"
#include "sim/fake_hypervisor.h"
#include "sim/sim_database.h"
#include "sim/sim_runtime.h"
#include "sim/world.h"
#include "store/embedded_store.h"

namespace wardmote::sim {

/// What a receiver was told.
struct Heard {
  std::vector<std::string> all;  ///< each as `opened guest:web GUEST_SPINNING`
  /// By one who drops what it knows, as Masakari does: the same of the same guest, generated within
  /// three minutes (duplicate_notification_detection_interval).
  std::vector<std::string> once;
  std::vector<std::string> parts;              ///< of storms, each as `guest:web GUEST_SPINNING`
  std::vector<std::string> events;             ///< as Masakari's instance monitor tells of them
  std::map<std::string, TimePoint> generated;  ///< by kind and root, the last time
};

/// Takes every notice.
class GuestEar final : public act::notify::Channel {
 public:
  explicit GuestEar(Heard& heard) : heard_(heard) {}
  runtime::Task<act::notify::DeliveryResult> send(judge::notify::Notice notice,
                                                  runtime::Deadline) override {
    using namespace std::chrono_literals;
    for (const judge::notify::NoticeItem& item : notice.items) {
      const std::string what = fmt::format("{} {}", to_string(item.kind), item.incident.root);
      heard_.all.push_back(fmt::format("{} {}", what, to_string(item.incident.code)));
      for (const judge::notify::NoticePart& part : item.parts) {
        heard_.parts.push_back(fmt::format("{} {}", part.labels.at("root"), to_string(part.code)));
      }
      const auto before = heard_.generated.find(what);
      const bool known =
          before != heard_.generated.end() && item.incident.changed - before->second < 180s;
      if (!known) heard_.once.push_back(heard_.all.back());
      heard_.generated[what] = item.incident.changed;
    }
    co_return act::notify::Delivered{};
  }

 private:
  Heard& heard_;
};

inline std::string guest_uuid(int number) {
  return fmt::format("00000000-0000-4000-8000-{:012x}", number);
}

class GuestSite : public AskedAgent {
 public:
  explicit GuestSite(World& world, std::string keys = "every: 10s, timeout: 2s, threshold: 3")
      : AskedAgent(world), host(us), keys_(std::move(keys)) {}
  ~GuestSite() { end(); }

  void begin() {
    current_host() = &host;
    database_.emplace(us, disk);
    store_.emplace(us, *database_, "boot");
    const Result<void> opened = run_task(sim, us, store_->open());
    EXPECT_TRUE(opened) << opened.error().describe();
    const std::string text = fmt::format(
        "api: {{listen: 127.0.0.1:9470}}\ndata: /var/lib/wardmote\nguests: {{{}}}\n{}\n", keys_,
        policies);
    auto config = config::parse_config(text, observe::probe_kinds());
    check(config.has_value(), "the configuration");
    agent::Memory memory{&*database_, &*store_, nullptr};
    memory.recoverer.maintenance = [this] { return host_maintenance; };
    memory.recoverer.hear = [this](const runtime::HypervisorEvent& event) {
      for (const auto& one : observe::guests::instance_events(event))
        heard.events.push_back(fmt::format("{}/{}", one.event, one.vir_domain_event));
    };
    agent_ = std::make_unique<agent::Agent>(us, no_service_, *std::move(config), "compute-1",
                                            std::move(memory), receivers(), domains());
    const Result<void> recalled = run_task(sim, us, agent_->recall());
    EXPECT_TRUE(recalled) << recalled.error().describe();
    const Result<void> started = agent_->start();
    EXPECT_TRUE(started) << started.error().describe();
  }
  void end() {
    if (!agent_) return;
    sim.run(us, agent_->stop());
    agent_.reset();
    store_.reset();
    database_.reset();
  }

  /// kill -9: nothing is written from this moment on, and what was in memory is gone.
  void kill() {
    disk.die_before(0);
    disk.bury();
    end();
    disk.restart();
  }

  /// Another configuration; the keys of `guests`, or none of it.
  void reload(std::string_view keys) {
    const std::string guests = keys.empty() ? "checks: [{name: web, tcp: {address: server:80}}]"
                                            : fmt::format("guests: {{{}}}", keys);
    auto config = config::parse_config(
        fmt::format("api: {{listen: 127.0.0.1:9470}}\ndata: /var/lib/wardmote\n{}\n", guests),
        observe::probe_kinds());
    check(config.has_value(), "the configuration");
    EXPECT_TRUE(agent_->reload(*std::move(config)));
  }

  std::string start_guest(int number) {
    std::string uuid = guest_uuid(number);
    host.start(uuid, fmt::format("web-{}", number));
    return uuid;
  }
  boost::json::object guest(int number) {
    const auto answer = get(fmt::format("/api/v1/guests/web-{}", number));
    return answer.status == 200 ? boost::json::parse(answer.body).as_object()
                                : boost::json::object();
  }
  std::string verdict(int number) {
    const boost::json::object seen = guest(number);
    const auto* const verdict = seen.if_contains("verdict");
    return verdict == nullptr ? "" : std::string(verdict->as_string());
  }
  /// How long until it is said of the guest.
  Duration until(int number, std::string_view wanted, Duration limit) {
    return time_until([&] { return verdict(number) == wanted; }, limit);
  }

  FakeHost host;
  std::string policies;           ///< a section of the configuration, from the next begin() on
  bool recovers = false;          ///< who is told restarts guests, as Masakari does
  bool host_maintenance = false;  ///< somebody works on the host
  SimDisk disk;
  Heard heard;
  std::vector<std::string>& told = heard.all;

 private:
  /// The table of domains holds functions, and they have no other way to their host.
  static FakeHost*& current_host() {
    static thread_local FakeHost* host = nullptr;
    return host;
  }
  static std::unique_ptr<agent::Domain> make_watch(const agent::DomainTools& tools) {
    return std::make_unique<agent::GuestWatch>(
        tools,
        [](runtime::Runtime& runtime,
           const config::Guests&) -> Result<std::unique_ptr<runtime::Hypervisor>> {
          return std::make_unique<FakeHypervisor>(runtime, *current_host());
        });
  }
  static agent::Domains domains() {
    static const std::vector<agent::DomainRow> kAll = [] {
      std::vector<agent::DomainRow> all(agent::domains().begin(), agent::domains().end());
      for (agent::DomainRow& row : all) {
        if (row.family == &serve::kGuestFamily) row.make = make_watch;
      }
      return all;
    }();
    return kAll;
  }
  incidents::NotifierOptions receivers() {
    using namespace std::chrono_literals;
    incidents::NotifierOptions options;
    judge::notify::Route route;
    route.receiver = "ear";
    route.group_wait = Duration::zero();
    if (recovers) {
      options.policy.recover.insert("ear");
      route.group_interval = 1s;
    }
    options.policy.routes.push_back(route);
    options.receivers["ear"] = {std::make_unique<GuestEar>(heard), 15s};
    return options;
  }

  const std::string keys_;
  std::optional<SimDatabase> database_;
  std::optional<store::EmbeddedStore> store_;
  const agent::ServiceManager no_service_{"", std::nullopt};
  std::unique_ptr<agent::Agent> agent_;
};

}  // namespace wardmote::sim
