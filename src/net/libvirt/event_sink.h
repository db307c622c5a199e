#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "net/libvirt/api.h"
#include "runtime/hypervisor.h"
#include "runtime/task.h"

namespace wardmote::net::libvirt {

/// The way from libvirt's threads to the core loop. It outlives whoever listens: what comes after
/// close() is dropped. Thread: any.
class Mailbox {
 public:
  explicit Mailbox(runtime::Executor loop) : loop_(std::move(loop)) {}
  /// Runs `letter` on the loop, or never.
  void post(std::move_only_function<void()> letter);
  /// On the loop; also what is on its way already is not run any more.
  void close();

 private:
  std::mutex mutex_;
  std::optional<runtime::Executor> loop_;
  std::shared_ptr<bool> open_ = std::make_shared<bool>(true);  ///< the loop's
};

using HearEvent = std::function<void(runtime::HypervisorEvent event)>;

/// Has one connection tell what happens: `hear` runs on the loop. Blocks. An event that this
/// libvirt does not know is left out.
class EventSubscription {
 public:
  EventSubscription(std::shared_ptr<Mailbox> mailbox, HearEvent hear);
  /// Called by a thread of a pool.
  Result<void> begin(const Api& api, virConnect* connection);
  void end(const Api& api, virConnect* connection);

 private:
  std::shared_ptr<Mailbox> mailbox_;
  HearEvent hear_;
  std::vector<int> registered_;
};

}  // namespace wardmote::net::libvirt
