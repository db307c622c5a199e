#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "net/libvirt/api.h"
#include "net/libvirt/call_pool.h"
#include "net/libvirt/event_sink.h"
#include "runtime/deadline.h"
#include "runtime/event.h"
#include "runtime/hypervisor.h"
#include "runtime/runtime.h"
#include "runtime/task.h"
#include "runtime/task_group.h"

namespace wardmote::net::libvirt {

struct Options {
  std::string uri = "qemu:///system";
  std::size_t fast_connections = 2;
  /// Hung agents hold a call for libvirt's own five seconds each.
  std::size_t slow_connections = 4;
  /// Sets libvirt's own patience with a guest's agent, which everybody who uses that guest shares;
  /// zero: leaves it.
  Duration response_timeout{};
};

/// A libvirt daemon. One connection tells events, one is asked about guests, and each lane has some
/// of its own, with four calls on each at most: libvirtd serves no more than five of a connection.
class Hypervisor final : public runtime::Hypervisor {
 public:
  Hypervisor(runtime::Runtime& runtime, const Api& api, Options options);
  ~Hypervisor() override;

  void start() override;
  runtime::Task<void> stop() override;
  runtime::Task<std::vector<runtime::HypervisorEvent>> events() override;
  runtime::Task<Result<std::vector<runtime::GuestEntry>>> list(runtime::Deadline deadline) override;
  runtime::Task<Result<std::string>> describe(std::string uuid,
                                              runtime::Deadline deadline) override;
  runtime::Task<Result<void>> knock(runtime::Deadline deadline) override;
  runtime::Task<Result<runtime::AgentAnswer>> ask_agent(runtime::AgentOrder order,
                                                        runtime::Deadline begun_by) override;
  runtime::Task<Result<runtime::GuestCounts>> counts(std::string uuid, bool ask_qemu,
                                                     runtime::Deadline deadline) override;
  runtime::Task<Result<runtime::GuestStanding>> standing(std::string uuid,
                                                         runtime::Deadline deadline) override;
  runtime::Task<Result<void>> inject_nmi(std::string uuid, int id,
                                         runtime::Deadline deadline) override;
  runtime::Task<Result<void>> destroy(std::string uuid, int id,
                                      runtime::Deadline deadline) override;
  runtime::Task<Result<void>> create(std::string uuid, runtime::Deadline deadline) override;

 private:
  runtime::Task<void> keep_connected();
  void subscribe();
  void unsubscribe();
  void hear(runtime::HypervisorEvent event);

  runtime::Runtime& runtime_;
  const Api& api_;
  const Options options_;
  std::shared_ptr<Mailbox> mailbox_;
  std::shared_ptr<EventSubscription> subscription_;
  CallPool watching_;
  CallPool asking_;
  CallPool counting_;  ///< apart, since a QEMU may hang
  CallPool acting_;    ///< apart, since to end a QEMU takes long
  CallPool fast_;
  CallPool slow_;
  std::set<std::string> under_way_;  ///< guests whose agents are being asked
  std::deque<runtime::HypervisorEvent> told_;
  bool connected_ = false;
  bool settled_ = false;  ///< the last attempt to connect has ended
  runtime::Event changed_;
  runtime::TaskGroup tasks_;
};

}  // namespace wardmote::net::libvirt
