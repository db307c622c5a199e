#include <sys/stat.h>
#include <sys/un.h>

#include <boost/asio/error.hpp>
#include <chrono>
#include <cstring>
#include <fstream>
#include <vector>

#include "net/socket_address.h"
#include "net/system_error.h"
#include "runtime/task_group.h"
#include "unit/net/net_fixture.h"

namespace wardmote::net {
namespace {

using namespace std::chrono_literals;
using runtime::Endpoint;
using runtime::Listener;
using runtime::Runtime;
using runtime::Stream;
using runtime::Task;
using runtime::TaskGroup;

class Streams : public NetTest {
 protected:
  struct Pair {
    std::unique_ptr<Stream> client;
    std::unique_ptr<Stream> server;
  };

  Pair connected(Endpoint at) {
    Result<std::unique_ptr<Listener>> listener = runtime_.listen(at);
    EXPECT_TRUE(listener) << listener.error().describe();
    constexpr auto make = [](Runtime* runtime, Listener* from, Endpoint to) -> Task<Pair> {
      const runtime::Deadline deadline = runtime->deadline_in(2s);
      Result<std::unique_ptr<Stream>> client = co_await runtime->connect(to, deadline);
      Result<std::unique_ptr<Stream>> server = co_await from->accept();
      co_return Pair{std::move(client.value()), std::move(server.value())};
    };
    return run_task(runtime_, make(&runtime_, listener->get(), at));
  }

  Errc connect_error(Endpoint to, Duration timeout) {
    const Result<std::unique_ptr<Stream>> stream =
        run_task(runtime_, runtime_.connect(to, in(timeout)));
    EXPECT_FALSE(stream);
    return stream ? Errc::kInternal : stream.error().code;
  }
};

TEST_F(Streams, CarryBytesBothWaysOverUnixAndTcp) {
  for (const Endpoint& at : {unix_at("echo"), Endpoint::tcp("127.0.0.1", free_port()),
                             Endpoint::tcp("::1", free_port())}) {
    Pair pair = connected(at);
    EXPECT_TRUE(run_task(runtime_, pair.client->write("ping", in(1s))));
    EXPECT_EQ(run_task(runtime_, read_exactly(pair.server.get(), 4, in(1s))), "ping");
    EXPECT_TRUE(run_task(runtime_, pair.server->write("pong", in(1s))));
    EXPECT_EQ(run_task(runtime_, read_exactly(pair.client.get(), 4, in(1s))), "pong");
  }
}

TEST_F(Streams, ConnectSaysWhyItFailed) {
  EXPECT_EQ(connect_error(unix_at("nobody"), 1s), Errc::kMissing);
  EXPECT_EQ(connect_error(Endpoint::tcp("127.0.0.1", free_port()), 1s), Errc::kRefused);
  EXPECT_EQ(connect_error(Endpoint::tcp("no-such-host.invalid", 1), 5s), Errc::kMissing);
  // TCP has no way to a multicast address: net/ipv4/tcp_ipv4.c tcp_v4_connect().
  EXPECT_EQ(connect_error(Endpoint::tcp("224.0.0.1", 1), 1s), Errc::kUnreachable);
}

TEST_F(Streams, EveryErrnoThatCallersActOnHasItsCode) {
  EXPECT_EQ(to_errc(ECONNREFUSED), Errc::kRefused);
  EXPECT_EQ(to_errc(ENOENT), Errc::kMissing);
  EXPECT_EQ(to_errc(EACCES), Errc::kDenied);
  EXPECT_EQ(to_errc(EPERM), Errc::kDenied);
  EXPECT_EQ(to_errc(EHOSTUNREACH), Errc::kUnreachable);
  EXPECT_EQ(to_errc(ENETUNREACH), Errc::kUnreachable);
  EXPECT_EQ(to_errc(EMFILE), Errc::kExhausted);
  EXPECT_EQ(to_errc(ENFILE), Errc::kExhausted);
  EXPECT_EQ(to_errc(ENOBUFS), Errc::kExhausted);
  EXPECT_EQ(to_errc(ENOMEM), Errc::kExhausted);
  EXPECT_EQ(to_errc(EPIPE), Errc::kClosed);
  EXPECT_EQ(to_errc(ECONNRESET), Errc::kClosed);
}

TEST_F(Streams, ANameIsResolved) {
  const std::uint16_t port = free_port();
  const auto listener = runtime_.listen(Endpoint::tcp("127.0.0.1", port));
  ASSERT_TRUE(listener);
  // The second is one that only the resolver knows.
  for (const char* const name : {"localhost", "LOCALHOST"}) {
    const auto stream = run_task(runtime_, runtime_.connect(Endpoint::tcp(name, port), in(5s)));
    EXPECT_TRUE(stream) << stream.error().describe();
  }
}

TEST_F(Streams, LocalhostIsBothLoopbacksAndNobodyThereIsRefused) {
  const std::uint16_t port = free_port();
  EXPECT_EQ(
      run_task(runtime_, runtime_.knock(Endpoint::tcp("localhost", port), in(5s))).error().code,
      Errc::kRefused);
  // Both where there is IPv6, and the other one alone where there is none.
  auto listener = runtime_.listen(Endpoint::tcp("::1", port));
  if (!listener) listener = runtime_.listen(Endpoint::tcp("127.0.0.1", port));
  ASSERT_TRUE(listener);
  EXPECT_TRUE(run_task(runtime_, runtime_.knock(Endpoint::tcp("localhost", port), in(5s))));
}

TEST_F(Streams, AKnockTellsWhoAcceptsAndLeavesNothingBehind) {
  const auto knock = [this](const Endpoint& at) {
    return run_task(runtime_, runtime_.knock(at, in(5s)));
  };
  const std::uint16_t port = free_port();
  EXPECT_EQ(knock(Endpoint::tcp("127.0.0.1", port)).error().code, Errc::kRefused);
  EXPECT_EQ(knock(Endpoint::tcp("224.0.0.1", 1)).error().code, Errc::kUnreachable);
  EXPECT_EQ(knock(Endpoint::tcp("no-such-host.invalid", 1)).error().code, Errc::kMissing);
  EXPECT_EQ(knock(unix_at("nobody")).error().code, Errc::kMissing);
  const auto listener = runtime_.listen(Endpoint::tcp("127.0.0.1", port));
  ASSERT_TRUE(listener);
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(knock(Endpoint::tcp("localhost", port)));
  // Who connects afterwards is the first whom the server can talk to.
  auto stream = run_task(runtime_, runtime_.connect(Endpoint::tcp("127.0.0.1", port), in(5s)));
  ASSERT_TRUE(stream);
  const Result<void> sent = run_task(runtime_, (*stream)->write("me", in(5s)));
  ASSERT_TRUE(sent);
  for (int accepted = 0; accepted <= 10; ++accepted) {
    const auto peer = run_task(runtime_, (*listener)->accept());
    ASSERT_TRUE(peer);
    const auto heard = run_task(runtime_, read_exactly(peer->get(), 2, in(5s)));
    if (heard) {
      EXPECT_EQ(*heard, "me");
      return;
    }
    EXPECT_EQ(heard.error().code, Errc::kClosed) << "reset, not hung";
  }
  ADD_FAILURE() << "nobody came";
}

/// A stopped server whose queue is full: the kernel answers EAGAIN and promises nothing.
TEST_F(Streams, AFullQueueIsHungNotRefused) {
  const UniqueFd server(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  const std::string file = path("stopped");
  std::memcpy(address.sun_path, file.c_str(), file.size() + 1);
  ASSERT_EQ(::bind(server.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(::listen(server.get(), 0), 0);
  std::vector<std::unique_ptr<Stream>> queued;
  for (;;) {
    auto stream = run_task(runtime_, runtime_.connect(unix_at("stopped"), in(30ms)));
    if (!stream) {
      EXPECT_EQ(stream.error().code, Errc::kTimeout);
      break;
    }
    queued.push_back(std::move(*stream));
    ASSERT_LT(queued.size(), 10U);
  }
}

TEST_F(Streams, AConnectThatFindsRoomLaterSucceeds) {
  const UniqueFd server(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  const std::string file = path("slow");
  std::memcpy(address.sun_path, file.c_str(), file.size() + 1);
  ASSERT_EQ(::bind(server.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(::listen(server.get(), 0), 0);
  const auto first = run_task(runtime_, runtime_.connect(unix_at("slow"), in(1s)));
  ASSERT_TRUE(first);
  constexpr auto accept_soon = [](Runtime* runtime, int fd) -> Task<void> {
    co_await runtime->sleep_until(runtime->now() + 20ms);
    UniqueFd accepted(::accept(fd, nullptr, nullptr));
  };
  constexpr auto both = [](Runtime* runtime, Endpoint to,
                           Task<void> accepting) -> Task<Result<std::unique_ptr<Stream>>> {
    TaskGroup group(runtime->executor());
    group.spawn("accept", std::move(accepting));
    Result<std::unique_ptr<Stream>> stream =
        co_await runtime->connect(to, runtime->deadline_in(2s));
    co_await group.join();
    co_return stream;
  };
  EXPECT_TRUE(
      run_task(runtime_, both(&runtime_, unix_at("slow"), accept_soon(&runtime_, server.get()))));
}

TEST_F(Streams, ASilentPeerEndsAtTheDeadline) {
  Pair pair = connected(unix_at("silent"));
  const TimePoint begun = runtime_.now();
  std::array<char, 8> buffer;
  const auto got = run_task(runtime_, pair.client->read_some(buffer, in(30ms)));
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, Errc::kTimeout);
  EXPECT_GE(runtime_.now() - begun, 30ms);
}

TEST_F(Streams, ADeadlineThatHasPassedEndsAtOnceEvenIfBytesAreThere) {
  Pair pair = connected(unix_at("late"));
  ASSERT_TRUE(run_task(runtime_, pair.server->write("endless", in(1s))));
  std::array<char, 8> buffer;
  const auto got = run_task(runtime_, pair.client->read_some(buffer, in(0s)));
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, Errc::kTimeout);
}

TEST_F(Streams, AReaderThatReadsNothingStopsTheWriterAtTheDeadline) {
  Pair pair = connected(unix_at("full"));
  const std::string much(16 << 20, 'x');
  const auto written = run_task(runtime_, pair.client->write(much, in(30ms)));
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code, Errc::kTimeout);
}

TEST_F(Streams, AWriterThatTimesOutDoesNotDisturbTheReader) {
  Pair pair = connected(unix_at("duplex"));
  const std::string much(16 << 20, 'x');
  struct Seen {
    Result<void> written;
    Result<std::size_t> read = 0;
  } seen;
  std::array<char, 8> buffer;
  constexpr auto write = [](Stream* stream, const std::string* bytes, runtime::Deadline deadline,
                            Seen* into) -> Task<void> {
    into->written = co_await stream->write(*bytes, deadline);
  };
  constexpr auto read = [](Stream* stream, std::span<char> into_buffer, runtime::Deadline deadline,
                           Seen* into) -> Task<void> {
    into->read = co_await stream->read_some(into_buffer, deadline);
  };
  constexpr auto answer_later = [](Runtime* runtime, Stream* peer) -> Task<void> {
    co_await runtime->sleep_until(runtime->now() + 40ms);
    co_await peer->write("ok", runtime->deadline_in(1s));
  };
  std::vector<Task<void>> parts;
  parts.push_back(write(pair.client.get(), &much, in(15ms), &seen));
  parts.push_back(read(pair.client.get(), buffer, in(5s), &seen));
  parts.push_back(answer_later(&runtime_, pair.server.get()));
  runtime_.run(runtime::run_all(runtime_.executor(), std::move(parts)));
  EXPECT_EQ(seen.written.error().code, Errc::kTimeout);
  EXPECT_EQ(seen.read, 2U);
}

TEST_F(Streams, APeerThatLeavesIsClosed) {
  Pair pair = connected(unix_at("leaving"));
  pair.server.reset();
  std::array<char, 8> buffer;
  const auto got = run_task(runtime_, pair.client->read_some(buffer, in(1s)));
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, Errc::kClosed);
  // No SIGPIPE either.
  const auto written = run_task(runtime_, pair.client->write("x", in(1s)));
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code, Errc::kClosed);
}

TEST_F(Streams, CloseEndsAPendingRead) {
  Pair pair = connected(unix_at("closing"));
  constexpr auto close_soon = [](Runtime* runtime, Stream* stream) -> Task<void> {
    co_await runtime->sleep_until(runtime->now() + 5ms);
    stream->close();
  };
  constexpr auto read = [](Stream* stream, runtime::Deadline deadline,
                           Result<std::size_t>* into) -> Task<void> {
    std::array<char, 8> buffer;
    *into = co_await stream->read_some(buffer, deadline);
  };
  Result<std::size_t> got = 0;
  std::vector<Task<void>> parts;
  parts.push_back(read(pair.client.get(), in(5s), &got));
  parts.push_back(close_soon(&runtime_, pair.client.get()));
  runtime_.run(runtime::run_all(runtime_.executor(), std::move(parts)));
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, Errc::kClosed);
}

TEST_F(Streams, ACancelledTaskUnwindsOutOfARead) {
  Pair pair = connected(unix_at("cancelled"));
  constexpr auto read = [](Stream* stream, runtime::Deadline deadline,
                           bool* returned) -> Task<void> {
    std::array<char, 8> buffer;
    co_await stream->read_some(buffer, deadline);
    *returned = true;
  };
  constexpr auto story = [](Runtime* runtime, Task<void> reading) -> Task<void> {
    TaskGroup group(runtime->executor());
    group.spawn("read", std::move(reading));
    co_await runtime->sleep_until(runtime->now() + 5ms);
    co_await group.stop();
  };
  bool returned = false;
  const TimePoint begun = runtime_.now();
  runtime_.run(story(&runtime_, read(pair.client.get(), in(60s), &returned)));
  EXPECT_FALSE(returned);
  EXPECT_LT(runtime_.now() - begun, 10s);
}

TEST_F(Streams, APeerThatIsAlwaysReadyDoesNotStarveOthers) {
  Pair pair = connected(unix_at("flood"));
  struct Seen {
    bool stop = false;
    int ticks = 0;
  } seen;
  constexpr auto pump = [](Stream* stream, Stream* peer, runtime::Deadline deadline,
                           Seen* state) -> Task<void> {
    std::array<char, 64> buffer;
    while (!state->stop) {
      const Result<void> sent = co_await peer->write("drop", deadline);
      const Result<std::size_t> got = co_await stream->read_some(buffer, deadline);
      if (!got || !sent) co_return;
    }
  };
  constexpr auto tick = [](Runtime* runtime, Seen* state) -> Task<void> {
    for (; state->ticks < 5; ++state->ticks) co_await runtime->sleep_until(runtime->now() + 1ms);
    state->stop = true;
  };
  std::vector<Task<void>> parts;
  parts.push_back(pump(pair.client.get(), pair.server.get(), in(5s), &seen));
  parts.push_back(tick(&runtime_, &seen));
  runtime_.run(runtime::run_all(runtime_.executor(), std::move(parts)));
  EXPECT_EQ(seen.ticks, 5);
}

TEST_F(Streams, AUnixListenerIsForItsGroupAndTidiesUp) {
  {
    const auto listener = runtime_.listen(unix_at("api.sock"));
    ASSERT_TRUE(listener);
    struct stat made{};
    ASSERT_EQ(::lstat(path("api.sock").c_str(), &made), 0);
    EXPECT_EQ(made.st_mode & 07777U, 0660U);
  }
  EXPECT_FALSE(std::filesystem::exists(path("api.sock")));
}

TEST_F(Streams, ALiveSocketIsRefusedAndADeadOneReplaced) {
  const auto live = runtime_.listen(unix_at("live"));
  ASSERT_TRUE(live);
  const auto second = runtime_.listen(unix_at("live"));
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, Errc::kRefused);

  {
    const UniqueFd dead(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
    const std::string file = path("dead");
    std::memcpy(address.sun_path, file.c_str(), file.size() + 1);
    ASSERT_EQ(::bind(dead.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  }
  EXPECT_EQ(connect_error(unix_at("dead"), 1s), Errc::kRefused);
  EXPECT_TRUE(runtime_.listen(unix_at("dead")));
}

TEST_F(Streams, AFileThatIsNoSocketIsLeftAlone) {
  std::ofstream(path("notes")) << "precious";
  const auto listener = runtime_.listen(unix_at("notes"));
  ASSERT_FALSE(listener);
  EXPECT_EQ(listener.error().code, Errc::kInvalid);
  EXPECT_TRUE(std::filesystem::exists(path("notes")));
}

TEST_F(Streams, ATakenPortIsRefused) {
  const Endpoint at = Endpoint::tcp("127.0.0.1", free_port());
  const auto first = runtime_.listen(at);
  ASSERT_TRUE(first);
  const auto second = runtime_.listen(at);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, Errc::kRefused);
}

TEST_F(Streams, TheClockCountsOnAndSleepNeverEndsEarly) {
  const TimePoint begun = runtime_.now();
  runtime_.run(runtime_.sleep_until(begun + 10ms));
  EXPECT_GE(runtime_.now() - begun, 10ms);
  EXPECT_NE(runtime_.random(), runtime_.random());
}

/// Own sickness is not others' death: only a name server's word that there is no such name is the
/// target's.
TEST(NameLookup, TroubleOfTheResolverIsNotTheTargets) {
  namespace error = boost::asio::error;
  EXPECT_EQ(errc_of_lookup(error::host_not_found), Errc::kMissing) << "EAI_NONAME: NXDOMAIN";
  EXPECT_EQ(errc_of_lookup(error::no_data), Errc::kMissing);
  EXPECT_EQ(errc_of_lookup(error::host_not_found_try_again), Errc::kNoResolver)
      << "EAI_AGAIN: no resolver, SERVFAIL, its timeout";
  EXPECT_EQ(errc_of_lookup(error::no_recovery), Errc::kNoResolver) << "EAI_FAIL";
  EXPECT_EQ(errc_of_lookup(error::no_memory), Errc::kNoResolver);
  EXPECT_EQ(errc_of_lookup(error::make_error_code(error::operation_aborted)), Errc::kNoResolver);
}

}  // namespace
}  // namespace wardmote::net
