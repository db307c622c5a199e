#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "judge/raft/opinion.h"
#include "observe/ovn/member.h"
#include "runtime/runtime.h"

namespace wardmote::observe::ovn {

/// All configured members of one raft database, asked at the same time: no member delays another.
/// Life cycle: `runtime` outlives it. Thread: the core loop; one probe at a time.
class Cluster {
 public:
  Cluster(runtime::Runtime& runtime, std::vector<MemberTarget> targets);

  /// Called with the opinion of member `index` as soon as it has arrived, on the core loop, before
  /// look_each() returns.
  using Heard = std::function<void(std::size_t index, judge::raft::Opinion opinion)>;

  /// Probes every member; returns when all have answered or `deadline` has passed.
  runtime::Task<void> look_each(runtime::Deadline deadline, Heard heard);
  /// The same; returns all opinions in the order of the targets.
  runtime::Task<std::vector<judge::raft::Opinion>> look_all(runtime::Deadline deadline);

  [[nodiscard]] std::size_t size() const noexcept { return members_.size(); }
  [[nodiscard]] const Member& member(std::size_t index) const { return *members_.at(index); }

 private:
  runtime::Runtime& runtime_;
  std::vector<std::unique_ptr<Member>> members_;
};

}  // namespace wardmote::observe::ovn
