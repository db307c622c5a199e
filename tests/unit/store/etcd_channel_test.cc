// One connection to etcd: calls whose answers come in pieces, and calls that it does not take.
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "codec/grpc.h"
#include "runtime/endpoint.h"
#include "runtime/stream.h"
#include "runtime/task.h"
#include "runtime/task_group.h"
#include "sim/ovn_host.h"
#include "sim/seeds.h"
#include "store/etcd/channel.h"
#include "support/fake_door.h"
#include "support/http2_server.h"

namespace wardmote::sim {
namespace {

using runtime::Endpoint;
using runtime::Task;
using store::etcd::Channel;
using testing::Http2Server;
using namespace std::chrono_literals;

/// A server that answers each call with its pieces, one a second, and does not end.
class Talker {
 public:
  explicit Talker(World& world) : host_(world.host("a")) {
    const auto spawn = [this](std::string name, Task<void> task) {
      host_.spawn(std::move(name), std::move(task));
    };
    door_ = std::make_unique<testing::FakeDoor>(
        host_, spawn, "etcd", kAt, [this](auto stream) { return serve(this, std::move(stream)); });
    door_->open();
  }
  static const Endpoint kAt;
  std::vector<std::string> pieces;

 private:
  static Task<void> serve(Talker* self, std::shared_ptr<runtime::Stream> stream) {
    Http2Server server([](const Http2Server::Request&) { return std::nullopt; });
    for (;;) {
      std::array<char, 4096> chunk;
      const auto got = co_await stream->read_some(chunk, self->host_.deadline_in(1h));
      if (!got) co_return;
      server.receive(std::string_view(chunk.data(), *got));
      bool first = true;
      const auto pieces = server.requests.empty() ? std::vector<std::string>() : self->pieces;
      for (const std::string& piece : pieces) {
        if (!std::exchange(first, false)) co_await self->host_.sleep_until(self->host_.now() + 1s);
        server.say(server.requests.front().stream, piece);
        const auto said = co_await stream->write(server.take_output(), self->host_.deadline_in(1h));
        if (!said) co_return;
      }
      server.requests.clear();
      const auto sent = co_await stream->write(server.take_output(), self->host_.deadline_in(1h));
      if (!sent) co_return;
    }
  }

  SimRuntime& host_;
  std::unique_ptr<testing::FakeDoor> door_;
  Curfew ends_ = Curfew(host_);
};
const Endpoint Talker::kAt = Endpoint::tcp("a", 2379);

struct Site {
  explicit Site(World& world) : sim(world), tasks(us.executor()) {
    auto stream = run_task(sim, us, us.connect(Talker::kAt, us.deadline_in(1s)));
    EXPECT_TRUE(stream);
    channel = Channel::open(us, tasks, *std::move(stream), "http", "a");
  }
  ~Site() {
    channel->close();
    sim.run(us, tasks.stop());
  }
  Result<std::optional<std::string>> next(Channel::Call& call) {
    return run_task(sim, us, call.next(us.deadline_in(10s)));
  }

  World& sim;
  Talker talker{sim};
  SimRuntime& us = sim.host("us");
  runtime::TaskGroup tasks;
  std::shared_ptr<Channel> channel;
};

SIM_TEST_SEEDS(EtcdChannel, NoMessageIsLostWhenMoreComesBeforeItIsRead, 5) {
  Site site(sim);
  const auto said = [](std::string_view text) { return codec::encode_grpc_message(text); };
  site.talker.pieces = {said("one") + said("two"), said("three") + said("four").substr(0, 3),
                        said("four").substr(3)};
  const auto call = site.channel->begin("/watch", {}, std::nullopt).value();
  ASSERT_TRUE(call->send("", true));
  EXPECT_EQ(site.next(*call).value(), "one");
  sim.run_for(1500ms);
  for (const char* const text : {"two", "three", "four"}) EXPECT_EQ(site.next(*call).value(), text);
  EXPECT_EQ(site.next(*call).error().code, Errc::kTimeout);
}

/// Each would wait on until a deadline that may be an hour away.
SIM_TEST_SEEDS(EtcdChannel, WhoHasItsAnswerLeavesNoAlarmBehind, 1) {
  Site site(sim);
  const std::size_t before = site.tasks.size();
  for (int i = 0; i < 10; ++i) {
    site.talker.pieces = {codec::encode_grpc_message("one")};
    const auto call = site.channel->begin("/watch", {}, std::nullopt).value();
    ASSERT_TRUE(call->send("", true));
    EXPECT_EQ(site.next(*call).value(), "one");
  }
  sim.run_for(1ms);
  EXPECT_EQ(site.tasks.size(), before);
}

/// The server may send on only when it is told that what came was taken.
SIM_TEST_SEEDS(EtcdChannel, AMessageThatIsLargerThanTheWindowArrives, 1) {
  Site site(sim);
  const std::string large(3 << 20, 'x');
  site.talker.pieces = {codec::encode_grpc_message(large)};
  const auto call = site.channel->begin("/watch", {}, std::nullopt).value();
  ASSERT_TRUE(call->send("", true));
  const auto got = site.next(*call);
  ASSERT_TRUE(got) << got.error().describe();
  EXPECT_EQ(*got, large);
}

SIM_TEST_SEEDS(EtcdChannel, WhatIsNoMessageEndsTheCall, 5) {
  Site site(sim);
  site.talker.pieces = {std::string("\x07\0\0\0\1x", 6)};
  const auto call = site.channel->begin("/watch", {}, std::nullopt).value();
  ASSERT_TRUE(call->send("", true));
  EXPECT_EQ(site.next(*call).error().code, Errc::kProtocol);
}

SIM_TEST_SEEDS(EtcdChannel, TakesOnlySoManyCallsAtOnce, 1) {
  Site site(sim);
  std::vector<std::unique_ptr<Channel::Call>> calls;
  constexpr std::size_t kMany = 100'000;
  std::optional<Error> refused;
  while (!refused && calls.size() < kMany) {
    auto call = site.channel->begin("/watch", {}, std::nullopt);
    if (!call) {
      refused = call.error();
      break;
    }
    ASSERT_TRUE(*call);
    calls.push_back(*std::move(call));
  }
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->code, Errc::kLimit);
  calls.pop_back();
  EXPECT_TRUE(site.channel->begin("/watch", {}, std::nullopt)) << "one has ended";
}

}  // namespace
}  // namespace wardmote::sim
