#include "observe/ovn/cluster.h"

#include <gtest/gtest.h>

#include <chrono>

#include "support/ovn_captures.h"
#include "unit/observe/ovn_world.h"

namespace wardmote::observe::ovn {
namespace {

using judge::ReasonCode;
using judge::raft::Opinion;
using runtime::Task;
using testing::healthy_manners;
using testing::OvnWorld;
using namespace std::chrono_literals;

std::vector<MemberTarget> targets_of(const OvnWorld& world, int members) {
  std::vector<MemberTarget> targets;
  for (int i = 1; i <= members; ++i) {
    MemberTarget target;
    target.name = fmt::format("ctl-{}", i);
    target.database = "OVN_Northbound";
    target.control = world.endpoint(fmt::format("{}.ctl", i));
    target.ovsdb = world.endpoint(fmt::format("{}.sock", i));
    targets.push_back(std::move(target));
  }
  return targets;
}

void serve_members(OvnWorld& world, int members, int hung) {
  const std::vector<std::string> statuses = testing::statuses_of("01-healthy.txt");
  for (int i = 1; i <= members; ++i) {
    const auto manners =
        i == hung ? testing::FakeManners{.accepts = false}
                  : healthy_manners(statuses.at(static_cast<std::size_t>(i - 1) % statuses.size()));
    world.serve(fmt::format("{}.ctl", i), manners);
    world.serve(fmt::format("{}.sock", i), manners);
  }
}

TEST(OvnCluster, AllMembersInTheOrderOfTheConfiguration) {
  OvnWorld world;
  serve_members(world, 3, 0);
  Cluster cluster(world.runtime(), targets_of(world, 3));
  std::vector<Opinion> opinions;
  constexpr auto body = [](Cluster* asked, std::vector<Opinion>* into,
                           runtime::Deadline deadline) -> Task<void> {
    *into = co_await asked->look_all(deadline);
  };
  world.run(body(&cluster, &opinions, world.runtime().deadline_in(1s)));
  ASSERT_EQ(opinions.size(), 3U);
  EXPECT_EQ(opinions[0].member, "ctl-1");
  EXPECT_EQ(opinions[0].status->nickname, "dea6");
  EXPECT_EQ(opinions[1].status->nickname, "499b");
  EXPECT_EQ(opinions[2].status->nickname, "1430");
}

TEST(OvnCluster, AHungMemberDelaysNobody) {
  OvnWorld world;
  serve_members(world, 3, 2);
  Cluster cluster(world.runtime(), targets_of(world, 3));
  std::vector<std::size_t> order;
  std::vector<Opinion> opinions(3);
  constexpr auto body = [](Cluster* asked, Cluster::Heard heard,
                           runtime::Deadline deadline) -> Task<void> {
    co_await asked->look_each(deadline, std::move(heard));
  };
  const TimePoint begun = world.runtime().now();
  world.run(body(&cluster,
                 [&](std::size_t index, Opinion opinion) {
                   order.push_back(index);
                   opinions[index] = std::move(opinion);
                 },
                 {begun + 400ms}));
  ASSERT_EQ(order.size(), 3U);
  EXPECT_EQ(order.back(), 1U) << "the hung one is heard last";
  EXPECT_EQ(opinions[1].status_source.reason.code, ReasonCode::kHung);
  EXPECT_EQ(opinions[1].local_source.reason.code, ReasonCode::kHung);
  for (const std::size_t healthy : {0U, 2U}) {
    EXPECT_TRUE(opinions[healthy].status && opinions[healthy].local);
    EXPECT_LT(opinions[healthy].ended - begun, 200ms)
        << "half the deadline is far more than it takes";
  }
}

TEST(OvnCluster, CancellingALookEndsIt) {
  OvnWorld world;
  serve_members(world, 3, 1);
  Cluster cluster(world.runtime(), targets_of(world, 3));
  constexpr auto look = [](Cluster* asked, runtime::Deadline deadline, bool* ended) -> Task<void> {
    const std::vector<Opinion> opinions = co_await asked->look_all(deadline);
    *ended = true;
  };
  constexpr auto body = [](OvnWorld* in, Task<void> looking) -> Task<void> {
    runtime::TaskGroup group(in->runtime().executor());
    group.spawn("look", std::move(looking));
    co_await in->runtime().sleep_until(in->runtime().now() + 5ms);
    co_await group.stop();
  };
  bool ended = false;
  world.run(body(&world, look(&cluster, world.runtime().deadline_in(60s), &ended)));
  EXPECT_FALSE(ended);
}

}  // namespace
}  // namespace wardmote::observe::ovn
