// What is told of the events of libvirt, by their numbers and with their arguments.
#include "net/libvirt/event_sink.h"

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/format.h"
#include "net/asio_runtime.h"
#include "net/libvirt/api.h"
#include "runtime/hypervisor.h"
#include "runtime/task.h"

namespace wardmote::net::libvirt {
namespace {

using runtime::HypervisorEvent;

struct Registered {
  virConnectDomainEventGenericCallback call;
  void* opaque;
  virFreeCallback release;
};
std::map<int, Registered> registered;
int anything = 0;

virDomain* domain() {
  return reinterpret_cast<virDomain*>(&anything);
}
virConnect* connection() {
  return reinterpret_cast<virConnect*>(&anything);
}

Api fake_api() {
  Api api{};
  api.register_close = [](virConnect*, virConnectCloseFunc, void*, virFreeCallback) { return -1; };
  api.register_event = [](virConnect*, virDomain*, int id,
                          virConnectDomainEventGenericCallback call, void* opaque,
                          virFreeCallback release) {
    registered[id] = {call, opaque, release};
    return id;
  };
  api.deregister_event = [](virConnect*, int id) {
    const Registered gone = registered.extract(id).mapped();
    gone.release(gone.opaque);
    return 0;
  };
  api.unregister_close = [](virConnect*, virConnectCloseFunc) { return -1; };
  api.domain_name = [](virDomain*) { return "web"; };
  api.domain_uuid = [](virDomain*, char* uuid) {
    std::strcpy(uuid, "00000000-0000-4000-8000-000000000001");
    return 0;
  };
  return api;
}

/// Calls it as libvirt does.
template <class... Arguments>
void happens(int id, Arguments... arguments) {
  const Registered& one = registered.at(id);
  reinterpret_cast<void (*)(virConnect*, virDomain*, Arguments..., void*)>(one.call)(
      connection(), domain(), arguments..., one.opaque);
}

struct Teller {
  std::string operator()(const HypervisorEvent::Lifecycle& told) const {
    return fmt::format("lifecycle {} {}", told.event, told.detail);
  }
  std::string operator()(const HypervisorEvent::Reboot&) const { return "reboot"; }
  std::string operator()(const HypervisorEvent::Watchdog& told) const {
    return fmt::format("watchdog {}", told.action);
  }
  std::string operator()(const HypervisorEvent::IoError& told) const {
    return fmt::format("io error {} of {}: '{}'", told.action, told.device, told.reason);
  }
  std::string operator()(const HypervisorEvent::ControlError&) const { return "control error"; }
  template <class Other>
  std::string operator()(const Other&) const {
    return "another";
  }
};

runtime::Task<bool> a_turn() {
  co_return true;
}

TEST(LibvirtEvents, AreToldWithWhatTheySay) {
  static const Api api = fake_api();
  AsioRuntime runtime;
  std::vector<std::string> told;
  EventSubscription events(std::make_shared<Mailbox>(runtime.executor()),
                           [&told](const HypervisorEvent& event) {
                             EXPECT_EQ(event.name, "web");
                             told.push_back(std::visit(Teller(), event.what));
                           });
  ASSERT_TRUE(events.begin(api, connection()));
  happens<int, int>(0, 5, 5);
  happens(1);
  happens<int>(3, 2);
  happens<const char*, const char*, int, const char*>(6, "/disk", "vda", 2, nullptr);
  happens(7);
  for (int i = 0; i < 10 && told.size() < 5; ++i) run_task(runtime, a_turn());
  EXPECT_EQ(told, (std::vector<std::string>{"lifecycle 5 5", "reboot", "watchdog 2",
                                            "io error 2 of vda: ''", "control error"}));
  for (const auto& [id, one] : registered) EXPECT_NE(id, 4) << "the same as 6 with less";
  events.end(api, connection());
  EXPECT_TRUE(registered.empty()) << "what libvirt holds is released";
}

}  // namespace
}  // namespace wardmote::net::libvirt
