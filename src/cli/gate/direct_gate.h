#pragma once

#include <boost/json/value.hpp>
#include <optional>
#include <string>

#include "act/gate/gate_node.h"
#include "base/result.h"
#include "base/time.h"
#include "cli/command.h"
#include "runtime/event.h"
#include "runtime/runtime.h"
#include "runtime/task.h"
#include "runtime/task_group.h"
#include "store/etcd/client.h"
#include "store/etcd/etcd_store.h"

namespace wardmote::cli {

struct DirectOptions {
  store::etcd::ClientOptions etcd;
  act::gate::NodeOptions node;
};

/// From the options of `wait-ready --etcd`. kInvalid says what is wrong.
Result<DirectOptions> direct_options(const Call& call);

/// A version gate as etcd says, without an agent. Life cycle: start(), then stop() before
/// destruction, also when whoever waits was cancelled.
class DirectGate {
 public:
  DirectGate(runtime::Runtime& runtime, DirectOptions options);

  void start();
  runtime::Task<void> stop();
  /// As the agent's API shows it.
  [[nodiscard]] boost::json::value shown() const;
  /// Returns after a change, or after `longest`.
  runtime::Task<void> changed(Duration longest);

 private:
  runtime::Task<void> alarm(TimePoint at);

  runtime::Runtime& runtime_;
  store::etcd::EtcdStore store_;
  act::gate::GateNode node_;
  bool started_ = false;
  runtime::Event woken_;
  runtime::TaskGroup alarms_;
};

}  // namespace wardmote::cli
