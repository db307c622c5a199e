#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "act/gate/range_view.h"
#include "act/gate/records.h"
#include "base/result.h"
#include "base/time.h"
#include "judge/version_gate/admission.h"
#include "judge/version_gate/entry.h"
#include "judge/version_gate/leader.h"
#include "judge/version_gate/membership.h"
#include "judge/version_gate/report.h"
#include "judge/version_gate/status.h"
#include "judge/version_gate/status_memory.h"
#include "runtime/deadline.h"
#include "runtime/event.h"
#include "runtime/runtime.h"
#include "runtime/task.h"
#include "runtime/task_group.h"
#include "store/store.h"

namespace wardmote::act::gate {

struct NodeOptions {
  std::string gate;  ///< its name, for people
  Layout layout;
  Identity self;
  judge::version_gate::Product own;
  /// Write the registration; else another program does, as Metropolis's curator, and this one waits
  /// until the registration has our release.
  bool enroll = true;
};

/// The part of every node in a version gate: it registers its release, then reads the status, and
/// says whether the node may serve. It goes on to say so. A registration is kept when this ends.
/// When another process registers under the same name, the earlier one is not registered any more,
/// says so, and does not take the name back: to fight for it would let both through in turns.
/// When the store is set back to an older copy, what it saw before goes on to count until a leader
/// has recorded a pass (StatusMemory).
/// Life cycle: start(), then stop() before destruction; what it borrows outlives it. Thread: the
/// core loop.
class GateNode {
 public:
  GateNode(runtime::Runtime& runtime, store::Store& store, NodeOptions options);

  void start();
  runtime::Task<void> stop();

  /// Called after each change of anything below, until this is stopped.
  void listen(std::function<void()> changed) { listeners_.push_back(std::move(changed)); }

  [[nodiscard]] const judge::version_gate::Admission& admission() const noexcept {
    return admission_;
  }
  [[nodiscard]] const std::optional<store::Revision>& registered() const noexcept {
    return registered_;
  }
  [[nodiscard]] judge::version_gate::Facts facts() const;
  /// Whether the registrations in view are those from after its own. Until then others may be there
  /// that it does not see.
  [[nodiscard]] bool sees_itself() const {
    return registered_ && nodes_.revision() >= *registered_;
  }
  /// Whether what was written to this key at this revision is in view.
  [[nodiscard]] bool sees(std::string_view key, store::Revision revision) const noexcept {
    return (key.starts_with(options_.layout.nodes) ? nodes_ : state_).revision() >= revision;
  }
  [[nodiscard]] const NodeOptions& options() const noexcept { return options_; }
  [[nodiscard]] const RangeView& state() const noexcept { return state_; }
  /// What is in the way of what this node would write. Not read, until it sees itself.
  [[nodiscard]] judge::version_gate::Clearance clearance() const;
  /// The record of a node that is registered, as this node knows it.
  [[nodiscard]] std::optional<store::KeyValue> registration(std::string_view node) const {
    return nodes_.find(options_.layout.node(node));
  }
  /// What an operator preserves, as this node knows it.
  [[nodiscard]] const std::optional<judge::version_gate::Hold>& preserved() const noexcept {
    return preserved_;
  }
  /// Reads the registrations and the status again.
  runtime::Task<Result<void>> read_again(runtime::Deadline deadline);
  /// Everything for people and programs, but what only a leader knows.
  [[nodiscard]] judge::version_gate::Report report() const;
  /// Why it is not registered, or cannot see the gate now.
  [[nodiscard]] std::optional<std::string> complaint() const;

 private:
  runtime::Task<void> run();
  runtime::Task<Result<void>> enroll();
  void nodes_changed();
  void state_changed();
  /// What the view says of our own registration.
  void check_own();
  void take(const store::KeyValue& own);
  /// Tells the log of registrations that cannot be read, once for each time that one was written.
  void complain_of(std::map<std::string, store::Revision> unread);
  void judge();
  [[nodiscard]] bool wants_to_enroll() const;
  [[nodiscard]] bool wants_to_read() const { return registered_ && !read_since_; }
  [[nodiscard]] std::optional<Duration> age() const;

  runtime::Runtime& runtime_;
  store::Store& store_;
  const NodeOptions options_;
  RangeView nodes_;
  RangeView state_;
  judge::version_gate::Membership members_;
  std::map<std::string, store::Revision> unread_;  ///< of which the log was told
  judge::version_gate::Stored stored_;
  judge::version_gate::StatusMemory memory_;
  store::Revision claimed_ = 0;
  std::optional<judge::version_gate::Hold> preserved_;
  judge::version_gate::Admission admission_;
  WallTime since_;
  std::optional<store::Revision> registered_;
  store::KeyValue own_;                   ///< the registration, as last seen
  bool read_since_ = false;               ///< the status was read since the registration is there
  int own_gap_ = 0;                       ///< how often the view had a gap until then
  bool enrolled_ = false;                 ///< this process has written its registration
  std::optional<std::string> other_;      ///< what the registration says that is not ours
  std::optional<std::string> not_taken_;  ///< why the store did not take ours
  bool dirty_ = false;
  runtime::Event woken_;
  std::vector<std::function<void()>> listeners_;
  runtime::TaskGroup tasks_;
};

}  // namespace wardmote::act::gate
