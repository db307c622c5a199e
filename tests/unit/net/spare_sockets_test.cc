#include "net/spare_sockets.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "base/result.h"
#include "net/unique_fd.h"
#include "runtime/endpoint.h"
#include "runtime/stream.h"
#include "unit/net/net_fixture.h"

namespace wardmote::net {
namespace {

using namespace std::chrono_literals;

/// What recv() leads to when it has waited for something to come.
struct Received {
  ssize_t size = 0;
  int error = 0;
  friend bool operator==(const Received&, const Received&) = default;
};

Received receive(int fd, std::size_t most = 64 << 10) {
  pollfd readable{.fd = fd, .events = POLLIN, .revents = 0};
  ::poll(&readable, 1, 10'000);
  std::vector<char> into(most);
  const ssize_t size = ::recv(fd, into.data(), into.size(), MSG_DONTWAIT);
  return {size, size < 0 ? errno : 0};
}

constexpr Received kEnd{0, 0};
constexpr Received kReset{-1, ECONNRESET};

/// A server on the loopback.
class Server {
 public:
  Server() : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    ::bind(listener_.get(), address(), sizeof address_);
    ::listen(listener_.get(), 8);
    socklen_t size = sizeof address_;
    ::getsockname(listener_.get(), address(), &size);
  }

  [[nodiscard]] runtime::Endpoint endpoint() const {
    return runtime::Endpoint::tcp("127.0.0.1", ntohs(address_.sin_port));
  }

  /// Whoever has connected and has said one byte.
  UniqueFd accept() {
    UniqueFd accepted(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    EXPECT_EQ(receive(accepted.get()), (Received{1, 0}));
    return accepted;
  }

  UniqueFd accept(int fd) {
    ::connect(fd, address(), sizeof address_);
    pollfd connected{.fd = fd, .events = POLLOUT, .revents = 0};
    ::poll(&connected, 1, 10'000);
    EXPECT_EQ(::send(fd, "?", 1, MSG_NOSIGNAL), 1);
    return accept();
  }

 private:
  sockaddr* address() noexcept { return reinterpret_cast<sockaddr*>(&address_); }

  sockaddr_in address_{.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
  UniqueFd listener_;
};

class SpareSocketsTest : public ::testing::Test {
 protected:
  UniqueFd take() { return *spare_.take(AF_INET); }

  /// Whether a connection that is closed by `end` on the other side is over within ten seconds.
  static bool becomes_over(int fd) {
    pollfd ended{.fd = fd, .events = POLLRDHUP, .revents = 0};
    ::poll(&ended, 1, 10'000);
    return SpareSockets::is_over(fd);
  }

  Server server_;
  SpareSockets spare_;
};

TEST_F(SpareSocketsTest, WhatIsGivenBackIsTakenAgainAndConnectsElsewhere) {
  UniqueFd fd = take();
  const int number = fd.get();
  const UniqueFd first = server_.accept(number);
  spare_.give_back(std::move(fd), AF_INET);
  EXPECT_EQ(receive(first.get()), kReset);

  fd = take();
  EXPECT_EQ(fd.get(), number);
  Server other;
  const UniqueFd second = other.accept(fd.get());
  ASSERT_EQ(::send(second.get(), "answer", 6, 0), 6);
  EXPECT_EQ(receive(fd.get()), (Received{6, 0}));
}

TEST_F(SpareSocketsTest, NothingOfTheFormerConnectionIsLeft) {
  UniqueFd fd = take();
  {
    const UniqueFd first = server_.accept(fd.get());
    ASSERT_EQ(::send(first.get(), "stale", 5, 0), 5);
    pollfd readable{.fd = fd.get(), .events = POLLIN, .revents = 0};
    ASSERT_EQ(::poll(&readable, 1, 10'000), 1);
  }
  spare_.give_back(std::move(fd), AF_INET);
  fd = take();
  const UniqueFd second = server_.accept(fd.get());
  ASSERT_EQ(::send(second.get(), "new", 3, 0), 3);
  EXPECT_EQ(receive(fd.get()), (Received{3, 0}));
}

TEST_F(SpareSocketsTest, ARefusedSocketIsAsGoodAsNew) {
  UniqueFd fd = take();
  sockaddr_in nobody{.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
  {
    // A port that was just free.
    const UniqueFd other(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    socklen_t size = sizeof nobody;
    ::bind(other.get(), reinterpret_cast<sockaddr*>(&nobody), size);
    ::getsockname(other.get(), reinterpret_cast<sockaddr*>(&nobody), &size);
  }
  ::connect(fd.get(), reinterpret_cast<sockaddr*>(&nobody), sizeof nobody);
  spare_.give_back(std::move(fd), AF_INET);
  fd = take();
  EXPECT_TRUE(server_.accept(fd.get()));
}

TEST_F(SpareSocketsTest, AConnectionIsOverOnceTheOtherSideHasClosedIt) {
  const UniqueFd fd = take();
  UniqueFd accepted = server_.accept(fd.get());
  EXPECT_FALSE(SpareSockets::is_over(fd.get()));
  ASSERT_EQ(::send(accepted.get(), "answer", 6, 0), 6);
  EXPECT_FALSE(SpareSockets::is_over(fd.get()));
  accepted.reset();
  EXPECT_TRUE(becomes_over(fd.get()));
}

TEST_F(SpareSocketsTest, AConnectionIsNotOverWhileTheOtherSideHasToHearSomething) {
  const UniqueFd fd = take();
  const UniqueFd accepted = server_.accept(fd.get());
  ASSERT_EQ(::shutdown(accepted.get(), SHUT_WR), 0);
  const std::array<char, 64 << 10> words{};
  while (::send(fd.get(), words.data(), words.size(), MSG_NOSIGNAL | MSG_DONTWAIT) > 0) continue;
  EXPECT_FALSE(becomes_over(fd.get()));
  while (!SpareSockets::is_over(fd.get())) ASSERT_GT(receive(accepted.get(), 1 << 20).size, 0);
  EXPECT_EQ(::shutdown(fd.get(), SHUT_WR), 0);
  Received last;
  do last = receive(accepted.get(), 1 << 20);
  while (last.size > 0);
  EXPECT_EQ(last, kEnd);
}

TEST_F(SpareSocketsTest, FamiliesAreKeptApart) {
  UniqueFd four = take();
  const int number = four.get();
  spare_.give_back(std::move(four), AF_INET);
  const auto six = spare_.take(AF_INET6);
  ASSERT_TRUE(six) << six.error().describe();
  EXPECT_NE(six->get(), number);
  int family = 0;
  socklen_t size = sizeof family;
  ::getsockopt(six->get(), SOL_SOCKET, SO_DOMAIN, &family, &size);
  EXPECT_EQ(family, AF_INET6);
}

TEST_F(SpareSocketsTest, AThousandGivenBackDoNotStayOpen) {
  std::vector<UniqueFd> many(1000);
  for (UniqueFd& fd : many) fd = take();
  std::vector<int> numbers;
  for (UniqueFd& fd : many) {
    numbers.push_back(fd.get());
    spare_.give_back(std::move(fd), AF_INET);
  }
  const auto open =
      std::ranges::count_if(numbers, [](int number) { return ::fcntl(number, F_GETFD) != -1; });
  EXPECT_LE(open, 128);
}

class StreamsOfSpareSockets : public NetTest {
 protected:
  std::unique_ptr<runtime::Stream> connect() {
    auto stream = run_task(runtime_, runtime_.connect(server_.endpoint(), in(10s)));
    EXPECT_TRUE(run_task(runtime_, (*stream)->write("?", in(10s))));
    return *std::move(stream);
  }

  Server server_;
};

TEST_F(StreamsOfSpareSockets, EndInOrderWhereTheServerHasNotClosed) {
  std::unique_ptr<runtime::Stream> stream = connect();
  const UniqueFd accepted = server_.accept();
  stream.reset();
  EXPECT_EQ(receive(accepted.get()), kEnd);
}

TEST_F(StreamsOfSpareSockets, OneServesAllThatEndWithTheServer) {
  std::vector<int> lowest;
  for (int i = 0; i < 10; ++i) {
    std::unique_ptr<runtime::Stream> stream = connect();
    server_.accept().reset();
    EXPECT_EQ(run_task(runtime_, read_exactly(stream.get(), 1, in(10s))).error().code,
              Errc::kClosed);
    stream.reset();
    lowest.push_back(UniqueFd(::dup(STDIN_FILENO)).get());
  }
  EXPECT_EQ(lowest, std::vector(10, lowest.front()));
}

}  // namespace
}  // namespace wardmote::net
