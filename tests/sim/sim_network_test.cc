#include "sim/sim_network.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "sim/seeds.h"

namespace wardmote::sim {
namespace {

using namespace std::chrono_literals;
using runtime::Deadline;
using runtime::Endpoint;
using runtime::Listener;
using runtime::Runtime;
using runtime::Stream;
using runtime::Task;

const Endpoint kServer = Endpoint::tcp("server", 6641);

/// Sends everything back, to one client after the other.
Task<void> echo_server(Runtime* host, Endpoint at) {
  Result<std::unique_ptr<Listener>> listener = host->listen(at);
  for (;;) {
    Result<std::unique_ptr<Stream>> stream = co_await (*listener)->accept();
    std::array<char, 256> buffer;
    for (;;) {
      const Deadline deadline = host->deadline_in(1h);
      const Result<std::size_t> got = co_await (*stream)->read_some(buffer, deadline);
      if (!got) break;
      const Result<void> sent = co_await (*stream)->write({buffer.data(), *got}, deadline);
      if (!sent) break;
    }
  }
}

/// What one exchange over `stream` ended with.
Task<Result<std::string>> say(Stream* stream, std::string text, Deadline deadline) {
  const Result<void> sent = co_await stream->write(text, deadline);
  if (!sent) co_return std::unexpected(sent.error());
  std::string answer(text.size(), '\0');
  std::size_t have = 0;
  while (have < answer.size()) {
    const Result<std::size_t> got =
        co_await stream->read_some(std::span(answer).subspan(have), deadline);
    if (!got) co_return std::unexpected(got.error());
    have += *got;
  }
  co_return answer;
}

Errc code_of(const auto& result) {
  return result ? Errc::kInternal : result.error().code;
}

/// A client and an echo server in one world.
struct Pair {
  explicit Pair(World& world, Endpoint where = kServer) : sim(world), at(std::move(where)) {
    server.spawn("echo", echo_server(&server, at));
    sim.run_for(1ms);
  }
  Result<std::unique_ptr<Stream>> connect(Duration timeout = 1s) {
    return run_task(sim, client, client.connect(at, client.deadline_in(timeout)));
  }
  Result<std::string> exchange(Stream& stream, std::string text, Duration timeout = 1s) {
    return run_task(sim, client, say(&stream, std::move(text), client.deadline_in(timeout)));
  }

  World& sim;
  SimRuntime& client = sim.host("client");
  SimRuntime& server = sim.host("server");
  Endpoint at;
};

SIM_TEST(SimNetwork, CarriesBytesInTheTimeTheyTake) {
  Pair pair(sim);
  sim.network().link("client", "server").delay = 3ms;
  sim.network().link("server", "client").delay = 4ms;
  const TimePoint begun = sim.now();
  const auto stream = pair.connect();
  ASSERT_TRUE(stream);
  EXPECT_EQ(sim.now() - begun, 7ms);
  EXPECT_EQ(pair.exchange(**stream, "ping"), "ping");
  EXPECT_EQ(sim.now() - begun, 14ms);
  EXPECT_EQ(pair.exchange(**stream, std::string(100'000, 'x')), std::string(100'000, 'x'));
}

SIM_TEST(SimNetwork, UnixSocketsAreOfOneHost) {
  SimRuntime& us = sim.host("us");
  const Endpoint at = Endpoint::unix_socket("/run/a.sock");
  EXPECT_EQ(code_of(run_task(sim, us, us.connect(at, us.deadline_in(1s)))), Errc::kMissing);
  us.spawn("echo", echo_server(&us, at));
  sim.run_for(1ms);
  EXPECT_TRUE(run_task(sim, us, us.connect(at, us.deadline_in(1s))));
  SimRuntime& other = sim.host("other");
  EXPECT_EQ(code_of(run_task(sim, other, other.connect(at, other.deadline_in(1s)))),
            Errc::kMissing);
  us.crash();
  EXPECT_EQ(code_of(run_task(sim, us, us.connect(at, us.deadline_in(1s)))), Errc::kRefused);
}

SIM_TEST(SimNetwork, NobodyListeningIsRefusedAndNoHostMissing) {
  SimRuntime& us = sim.host("us");
  sim.host("server");
  EXPECT_EQ(code_of(run_task(sim, us, us.connect(kServer, us.deadline_in(1s)))), Errc::kRefused);
  const Endpoint nowhere = Endpoint::tcp("nowhere", 1);
  EXPECT_EQ(code_of(run_task(sim, us, us.connect(nowhere, us.deadline_in(1s)))), Errc::kMissing);
  sim.network().link("us", "server").no_route = true;
  EXPECT_EQ(code_of(run_task(sim, us, us.connect(kServer, us.deadline_in(1s)))),
            Errc::kUnreachable);
}

SIM_TEST(SimNetwork, ACutStallsAndHealsBothWays) {
  Pair pair(sim);
  const auto stream = pair.connect();
  ASSERT_TRUE(stream);
  sim.network().cut("client", "server");
  EXPECT_EQ(code_of(pair.exchange(**stream, "lost?")), Errc::kTimeout);
  EXPECT_EQ(code_of(pair.connect()), Errc::kTimeout);
  sim.network().heal();
  // TCP sends again what was stalled: the answer to the first question comes first.
  EXPECT_EQ(pair.exchange(**stream, "again", 10s), "lost?");
}

SIM_TEST(SimNetwork, AOneWayCutLetsTheQuestionThroughAndNotTheAnswer) {
  Pair pair(sim);
  const auto stream = pair.connect();
  ASSERT_TRUE(stream);
  sim.network().cut_one_way("server", "client");
  EXPECT_EQ(code_of(pair.exchange(**stream, "?")), Errc::kTimeout);
  EXPECT_EQ(code_of(pair.connect()), Errc::kTimeout);
}

SIM_TEST(SimNetwork, AnIsolatedHostStillTalksToItself) {
  Pair pair(sim, Endpoint::tcp("127.0.0.1", 80));
  sim.network().isolate("server");
  const auto stream =
      run_task(sim, pair.server, pair.server.connect(pair.at, pair.server.deadline_in(1s)));
  EXPECT_TRUE(stream);
}

SIM_TEST(SimNetwork, LossIsAStallNotACorruption) {
  Pair pair(sim);
  sim.network().link("client", "server").loss = 0.3;
  sim.network().link("server", "client").loss = 0.3;
  const auto stream = pair.connect(600s);
  ASSERT_TRUE(stream);
  for (int i = 0; i < 20; ++i) {
    const std::string text = std::to_string(i) + std::string(50, '.');
    EXPECT_EQ(pair.exchange(**stream, text, 600s), text);
  }
}

SIM_TEST(SimNetwork, AMiddleboxMayResetAConnection) {
  Pair pair(sim);
  const auto stream = pair.connect();
  ASSERT_TRUE(stream);
  sim.network().link("client", "server").reset = 1;
  EXPECT_EQ(code_of(pair.exchange(**stream, "x")), Errc::kClosed);
}

SIM_TEST(SimNetwork, APausedServerAcceptsAndNeverAnswersUntilItResumes) {
  Pair pair(sim);
  pair.server.pause();
  const auto stream = pair.connect();
  ASSERT_TRUE(stream);
  EXPECT_EQ(code_of(pair.exchange(**stream, "a")), Errc::kTimeout);
  pair.server.resume();
  EXPECT_EQ(pair.exchange(**stream, "b"), "a");
}

SIM_TEST(SimNetwork, AFullQueueOfAPausedServerHangsTheConnect) {
  Pair pair(sim);
  pair.server.pause();
  std::vector<std::unique_ptr<Stream>> queued;
  while (auto stream = pair.connect()) queued.push_back(std::move(*stream));
  EXPECT_EQ(queued.size(), 128U);
  EXPECT_EQ(code_of(pair.connect()), Errc::kTimeout);
}

SIM_TEST(SimNetwork, ACrashResetsConnectionsAndRefusesNewOnes) {
  Pair pair(sim);
  const auto stream = pair.connect();
  ASSERT_TRUE(stream);
  pair.server.crash();
  sim.run_for(1ms);
  EXPECT_EQ(code_of(pair.exchange(**stream, "x")), Errc::kClosed);
  EXPECT_EQ(code_of(pair.connect()), Errc::kRefused);
  pair.server.spawn("echo", echo_server(&pair.server, kServer));
  EXPECT_TRUE(pair.connect());
}

SIM_TEST(SimNetwork, AHostThatVanishesLeavesHalfOpenConnections) {
  Pair pair(sim);
  const auto stream = pair.connect();
  ASSERT_TRUE(stream);
  pair.server.vanish();
  EXPECT_EQ(code_of(pair.exchange(**stream, "anybody?")), Errc::kTimeout);
  EXPECT_EQ(code_of(pair.connect()), Errc::kTimeout);
  pair.server.return_from_nowhere();
  // Its new kernel knows nothing of the connection and says so to what is sent again.
  EXPECT_EQ(code_of(pair.exchange(**stream, "now?", 20s)), Errc::kClosed);
  EXPECT_EQ(code_of(pair.connect()), Errc::kRefused);
}

SIM_TEST(SimNetwork, ADripTakesItsTime) {
  Pair pair(sim);
  const auto stream = pair.connect();
  ASSERT_TRUE(stream);
  sim.network().link("server", "client").bytes_per_second = 10;
  EXPECT_EQ(code_of(pair.exchange(**stream, std::string(100, 'x'), 2s)), Errc::kTimeout);
}

SIM_TEST(SimNetwork, AWriterIsHeldUpByAReaderThatDoesNotRead) {
  Pair pair(sim);
  const auto stream = pair.connect();
  ASSERT_TRUE(stream);
  pair.server.pause();
  EXPECT_EQ(code_of(pair.exchange(**stream, std::string(1 << 20, 'x'))), Errc::kTimeout);
  EXPECT_EQ(sim.network().open_connections(), 1U);
}

SIM_TEST(SimNetwork, ClosedConnectionsAreForgotten) {
  Pair pair(sim);
  for (int i = 0; i < 5; ++i) {
    const auto stream = pair.connect();
    EXPECT_EQ(pair.exchange(**stream, "x"), "x");
  }
  sim.run_for(10s);
  EXPECT_EQ(sim.network().open_connections(), 0U);
}

SIM_TEST(SimNetwork, WithoutDescriptorsNothingConnects) {
  Pair pair(sim);
  pair.client.exhaust_descriptors(true);
  EXPECT_EQ(code_of(pair.connect()), Errc::kExhausted);
  pair.client.exhaust_descriptors(false);
  EXPECT_TRUE(pair.connect());
}

}  // namespace
}  // namespace wardmote::sim
