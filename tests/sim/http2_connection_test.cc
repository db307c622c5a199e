#include "runtime/http2_connection.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/task_group.h"
#include "sim/ovn_host.h"
#include "sim/seeds.h"
#include "support/fake_door.h"
#include "support/http2_server.h"

namespace wardmote::sim {
namespace {

using codec::Http2Session;
using runtime::Deadline;
using runtime::Endpoint;
using runtime::Http2Connection;
using runtime::Task;
using testing::Http2Server;
using namespace std::chrono_literals;

const codec::HeaderFields kRequest{
    {":method", "POST"}, {":scheme", "http"}, {":path", "/a/B"}, {":authority", "db:2379"}};

/// nghttp2's server on a host of its own, which answers `N` with N bytes, and a client.
class Http2Host {
 public:
  explicit Http2Host(World& world, const codec::Http2Limits& limits = {}) : sim(world) {
    const auto spawn = [this](std::string name, Task<void> task) {
      host.spawn(std::move(name), std::move(task));
    };
    door_ = std::make_unique<testing::FakeDoor>(
        host, spawn, "http2", kAt, [this](auto stream) { return serve(&host, std::move(stream)); });
    door_->open();
    auto stream = run_task(sim, us, us.connect(kAt, us.deadline_in(1s)));
    check(stream.has_value(), "nobody is there");
    connection = std::make_unique<Http2Connection>(us, *std::move(stream), limits);
  }

  static std::string numbers(std::size_t size) {
    std::string text;
    for (int i = 0; text.size() < size; ++i) text += std::to_string(i) + " ";
    return text.substr(0, size);
  }

  inline static const Endpoint kAt = Endpoint::tcp("db", 2379);
  World& sim;
  SimRuntime& us = sim.host("us");
  SimRuntime& host = sim.host("db");
  std::unique_ptr<Http2Connection> connection;

 private:
  static Task<void> serve(SimRuntime* host, std::shared_ptr<runtime::Stream> stream) {
    Http2Server server([](const Http2Server::Request& request) {
      return Http2Server::Answer{numbers(std::stoul(request.data))};
    });
    for (;;) {
      std::array<char, 4096> chunk;
      const auto got = co_await stream->read_some(chunk, host->deadline_in(1h));
      if (!got) co_return;
      server.receive(std::string_view(chunk.data(), *got));
      const std::string answer = server.take_output();
      const auto sent = co_await stream->write(answer, host->deadline_in(1h));
      if (!sent) co_return;
    }
  }

  std::unique_ptr<testing::FakeDoor> door_;
  Curfew ends_ = Curfew(host);
};

Http2Session::CallId begin(Http2Connection& connection, std::string_view data) {
  const auto call = connection.session().open(kRequest);
  check(call.has_value() && connection.session().send(*call, data, true), "no call");
  return *call;
}

/// Receives for all until that call has ended.
Task<Result<std::string>> finish(Http2Connection* connection, Http2Session::CallId call,
                                 Deadline deadline) {
  std::string data = connection->session().take_data(call);
  while (!connection->session().call(call).ended) {
    const Result<void> received = co_await connection->receive(deadline);
    if (!received) co_return std::unexpected(received.error());
    data += connection->session().take_data(call);
  }
  co_return data;
}

SIM_TEST_SEEDS(Http2Connection, AnAnswerLargerThanTheWindow, 20) {
  Http2Host node(sim);
  const auto call = begin(*node.connection, "500000");
  const Result<std::string> data =
      run_task(sim, node.us, finish(node.connection.get(), call, node.us.deadline_in(10s)));
  ASSERT_TRUE(data) << data.error().describe();
  EXPECT_EQ(*data, Http2Host::numbers(500'000));
  const Http2Connection::Traffic traffic = node.connection->take_traffic();
  EXPECT_GT(traffic.in, 500'000U);
  EXPECT_GT(traffic.out, 24U);
  EXPECT_EQ(node.connection->take_traffic().in, 0U);
}

// The last byte of a window may come with nothing behind it.
SIM_TEST_SEEDS(Http2Connection, AnAnswerOfManyWindows, 5) {
  for (const std::size_t window : {1U, 100U, 5000U, 500'000U}) {
    Http2Host node(sim, {.window = window});
    const std::size_t size = std::min<std::size_t>(window * 20, 1'500'000);
    const auto call = begin(*node.connection, std::to_string(size));
    const Result<std::string> data =
        run_task(sim, node.us, finish(node.connection.get(), call, node.us.deadline_in(60s)));
    ASSERT_TRUE(data) << data.error().describe();
    EXPECT_EQ(data->size(), size);
  }
}

SIM_TEST_SEEDS(Http2Connection, TwoCallsAtOnce, 20) {
  Http2Host node(sim);
  const auto first = begin(*node.connection, "300000");
  const auto second = begin(*node.connection, "300001");
  const Result<std::string> data =
      run_task(sim, node.us, finish(node.connection.get(), second, node.us.deadline_in(10s)));
  ASSERT_TRUE(data) << data.error().describe();
  EXPECT_EQ(data->size(), 300'001U);
  EXPECT_EQ(node.connection->session().call(first).data.size(), 65'535U) << "nobody took it";
  const Result<std::string> other =
      run_task(sim, node.us, finish(node.connection.get(), first, node.us.deadline_in(10s)));
  EXPECT_TRUE(other) << other.error().describe();
}

struct Asked {
  Http2Session::CallId call;
  std::size_t size;
  std::string data;
};

/// One task receives for all, as a client with many calls does.
Task<void> receive_all(Http2Connection* connection, std::vector<Asked>* asked, Deadline deadline) {
  for (;;) {
    const Result<void> received = co_await connection->receive(deadline);
    if (!received) co_return;
    for (Asked& one : *asked) one.data += connection->session().take_data(one.call);
  }
}

Task<void> ask_at(SimRuntime* us, Http2Connection* connection, TimePoint at, std::size_t size,
                  std::vector<Asked>* asked) {
  co_await us->sleep_until(at);
  asked->push_back({begin(*connection, std::to_string(size)), size, {}});
  const Result<void> sent = co_await connection->send(us->deadline_in(10s));
  EXPECT_TRUE(sent) << sent.error().describe();
}

SIM_TEST_SEEDS(Http2Connection, ManyTasksAskWhileOneReceives, 20) {
  Http2Host node(sim);
  Http2Connection* const connection = node.connection.get();
  std::vector<Asked> asked;
  runtime::TaskGroup tasks(node.us.executor());
  tasks.spawn("receive", receive_all(connection, &asked, node.us.deadline_in(60s)));
  for (std::size_t i = 0; i < 10; ++i) {
    // Some at the same instant, so that one sends while another does.
    const TimePoint at = node.us.now() + Duration(1ms) * (i / 3);
    tasks.spawn("ask", ask_at(&node.us, connection, at, 100'000 + i, &asked));
  }
  sim.run_for(20s);
  sim.run(node.us, tasks.stop());
  ASSERT_EQ(asked.size(), 10U);
  for (const Asked& one : asked) {
    EXPECT_TRUE(connection->session().call(one.call).ended) << one.size;
    EXPECT_EQ(one.data, Http2Host::numbers(one.size));
  }
}

SIM_TEST_SEEDS(Http2Connection, ACrashEndsEverybody, 20) {
  Http2Host node(sim);
  const auto call = begin(*node.connection, "1000");
  sim.schedule(sim.now() + 1us, [&] { node.host.crash(); });
  const Result<std::string> data =
      run_task(sim, node.us, finish(node.connection.get(), call, node.us.deadline_in(10s)));
  ASSERT_FALSE(data);
  EXPECT_EQ(data.error().code, Errc::kClosed) << data.error().describe();
  const Result<void> sent = run_task(sim, node.us, node.connection->send(node.us.deadline_in(10s)));
  ASSERT_FALSE(sent);
  EXPECT_EQ(sent.error(), data.error()) << "it stays so";
}

Task<void> send_all(Http2Connection* connection, Deadline deadline) {
  const Result<void> sent = co_await connection->send(deadline);
  ADD_FAILURE() << "it has ended: " << (sent ? "" : sent.error().describe());
}

// Half of a frame is on its way: whatever came next would be read as the other half.
SIM_TEST_SEEDS(Http2Connection, AWriteThatIsCutOffEndsTheConnection, 5) {
  Http2Host node(sim);
  Http2Connection* const connection = node.connection.get();
  node.host.pause();
  codec::HeaderFields large = kRequest;
  large.push_back({"x", std::string(15'000, '~')});
  // More than the kernels' buffers take.
  for (int i = 0; i < 60; ++i) EXPECT_TRUE(connection->session().open(large));
  runtime::TaskGroup tasks(node.us.executor());
  tasks.spawn("send", send_all(connection, node.us.deadline_in(60s)));
  sim.run_for(1s);
  const TimePoint begun = node.us.now();
  EXPECT_TRUE(connection->session().open(kRequest));
  EXPECT_TRUE(run_task(sim, node.us, connection->send(node.us.deadline_in(60s))));
  EXPECT_EQ(node.us.now(), begun) << "the other one sends for both";
  sim.run(node.us, tasks.stop());
  const Result<void> sent = run_task(sim, node.us, connection->send(node.us.deadline_in(60s)));
  ASSERT_FALSE(sent);
  EXPECT_EQ(sent.error().code, Errc::kClosed);
}

SIM_TEST_SEEDS(Http2Connection, ASilentServerEndsByTheDeadline, 20) {
  Http2Host node(sim);
  node.host.pause();
  const auto call = begin(*node.connection, "1000");
  const TimePoint begun = node.us.now();
  const Result<std::string> data =
      run_task(sim, node.us, finish(node.connection.get(), call, node.us.deadline_in(700ms)));
  ASSERT_FALSE(data);
  EXPECT_EQ(data.error().code, Errc::kTimeout);
  EXPECT_EQ(node.us.now() - begun, 700ms);
}

}  // namespace
}  // namespace wardmote::sim
