#include "observe/ovn/cluster.h"

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "judge/raft/opinion.h"
#include "observe/ovn/member.h"
#include "runtime/deadline.h"
#include "runtime/runtime.h"
#include "runtime/task_group.h"

namespace wardmote::observe::ovn {

using judge::raft::Opinion;
using runtime::Deadline;
using runtime::Task;

namespace {

Task<void> look_at(Member* member, std::size_t index, Deadline deadline,
                   const Cluster::Heard* heard) {
  Opinion opinion = co_await member->look(deadline);
  (*heard)(index, std::move(opinion));
}

}  // namespace

Cluster::Cluster(runtime::Runtime& runtime, std::vector<MemberTarget> targets) : runtime_(runtime) {
  members_.reserve(targets.size());
  for (MemberTarget& target : targets)
    members_.push_back(std::make_unique<Member>(runtime_, std::move(target)));
}

Task<void> Cluster::look_each(Deadline deadline, Heard heard) {
  std::vector<Task<void>> looks;
  looks.reserve(members_.size());
  for (std::size_t i = 0; i < members_.size(); ++i)
    looks.push_back(look_at(members_[i].get(), i, deadline, &heard));
  co_await runtime::run_all(runtime_.executor(), std::move(looks));
}

Task<std::vector<Opinion>> Cluster::look_all(Deadline deadline) {
  std::vector<Opinion> opinions(members_.size());
  Heard keep = [&opinions](std::size_t index, Opinion opinion) {
    opinions[index] = std::move(opinion);
  };
  co_await look_each(deadline, std::move(keep));
  co_return opinions;
}

}  // namespace wardmote::observe::ovn
