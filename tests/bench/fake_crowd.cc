#include "bench/fake_crowd.h"

#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "base/check.h"
#include "base/format.h"
#include "net/unique_fd.h"

namespace wardmote::bench {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using net::UniqueFd;

constexpr int kBacklog = 65535;
constexpr int kEvents = 1024;
constexpr int kTickMs = 100;
constexpr rlim_t kDescriptors = 100'000;

void bind_and_listen(const UniqueFd& fd, const sockaddr* at, socklen_t size,
                     const std::string& name) {
  check(::bind(fd.get(), at, size) == 0 && ::listen(fd.get(), kBacklog) == 0,
        fmt::format("listen on {}: {}", name, std::strerror(errno)));
}

}  // namespace

FakeCrowd::FakeCrowd() : poller_(::epoll_create1(EPOLL_CLOEXEC)) {
  // Root may; else the limit that stands has to do.
  const rlimit many{kDescriptors, kDescriptors};
  ::setrlimit(RLIMIT_NOFILE, &many);
}

void FakeCrowd::listen_unix(const std::string& path, Answer answer) {
  UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  sockaddr_un at{.sun_family = AF_UNIX, .sun_path = {}};
  check(path.size() < sizeof at.sun_path, "the path of a socket is too long");
  std::memcpy(at.sun_path, path.c_str(), path.size() + 1);
  ::unlink(path.c_str());
  bind_and_listen(fd, reinterpret_cast<const sockaddr*>(&at), sizeof at, path);
  listen(std::move(fd), std::move(answer));
}

void FakeCrowd::listen_tcp(std::uint16_t port, Answer answer) {
  UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  const int on = 1;
  ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_port = htons(port);
  bind_and_listen(fd, reinterpret_cast<const sockaddr*>(&at), sizeof at, std::to_string(port));
  listen(std::move(fd), std::move(answer));
}

void FakeCrowd::listen(UniqueFd fd, Answer answer) {
  answers_.push_back(std::make_unique<Answer>(std::move(answer)));
  watch(std::move(fd), answers_.back().get(), true);
}

void FakeCrowd::watch(UniqueFd fd, const Answer* answer, bool listens) {
  const int number = fd.get();
  const auto place = static_cast<std::size_t>(number);
  if (peers_.size() <= place) peers_.resize(place + 1);
  peers_[place] = std::make_unique<Peer>(Peer{std::move(fd), answer, listens, {}});
  epoll_event event{.events = EPOLLIN | EPOLLRDHUP, .data = {.fd = number}};
  ::epoll_ctl(poller_.get(), EPOLL_CTL_ADD, number, &event);
}

void FakeCrowd::accept_all(const Peer& listener) {
  for (;;) {
    UniqueFd fd(::accept4(listener.fd.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!fd) return;
    ++accepted_;
    ++open_;
    watch(std::move(fd), listener.answer, false);
  }
}

void FakeCrowd::serve(Peer& peer) {
  std::array<char, 16 << 10> chunk;
  const ssize_t got = ::recv(peer.fd.get(), chunk.data(), chunk.size(), 0);
  if (got < 0 && errno == EAGAIN) return;
  if (got <= 0) return close(peer.fd.get());
  peer.received.append(chunk.data(), static_cast<std::size_t>(got));
  reply_.clear();
  const Then then = (*peer.answer)(peer.received, reply_);
  if (!reply_.empty()) {
    ++replied_;
    ::send(peer.fd.get(), reply_.data(), reply_.size(), MSG_NOSIGNAL);
  }
  if (then == Then::kClose) close(peer.fd.get());
}

void FakeCrowd::close(int fd) {
  peers_[static_cast<std::size_t>(fd)].reset();
  --open_;
}

void FakeCrowd::report() {
  const std::string line = fmt::format(
      "{} {} {} {}\n",
      std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count(),
      std::exchange(accepted_, 0), std::exchange(replied_, 0), open_);
  std::fwrite(line.data(), 1, line.size(), stdout);
  std::fflush(stdout);
}

void FakeCrowd::run() {
  std::array<epoll_event, kEvents> events;
  for (auto next = Clock::now() + 1s;;) {
    const int count = ::epoll_wait(poller_.get(), events.data(), kEvents, kTickMs);
    for (int i = 0; i < count; ++i) {
      const auto& peer =
          peers_[static_cast<std::size_t>(events[static_cast<std::size_t>(i)].data.fd)];
      if (!peer) continue;
      if (peer->listens) {
        accept_all(*peer);
      } else {
        serve(*peer);
      }
    }
    if (Clock::now() < next) continue;
    report();
    next += 1s;
  }
}

}  // namespace wardmote::bench
