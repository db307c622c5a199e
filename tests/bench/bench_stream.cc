// What a question and an answer over a kept-open unix socket cost this process: the stream of the
// runtime against bare system calls. CPU of the asking thread only; the answering thread is the
// same for both.
#include <benchmark/benchmark.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstring>
#include <ctime>
#include <string>
#include <thread>

#include "net/asio_runtime.h"
#include "net/unique_fd.h"

namespace {

using namespace std::chrono_literals;
using wardmote::Result;
using wardmote::net::AsioRuntime;
using wardmote::net::UniqueFd;
using wardmote::runtime::Deadline;
using wardmote::runtime::Endpoint;
using wardmote::runtime::Runtime;
using wardmote::runtime::Stream;
using wardmote::runtime::Task;

constexpr std::size_t kQuestion = 80;
constexpr std::size_t kAnswer = 1200;  // about one cluster/status of three members

double thread_cpu_us() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e6 + static_cast<double>(time.tv_nsec) / 1e3;
}

/// Answers on a unix socket of its own until the client leaves.
class Answerer {
 public:
  Answerer() : path_("/tmp/wardmote-bench-" + std::to_string(::getpid()) + ".sock") {
    ::unlink(path_.c_str());
    listener_.reset(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const sockaddr_un at = address();
    ::bind(listener_.get(), reinterpret_cast<const sockaddr*>(&at), sizeof at);
    ::listen(listener_.get(), 8);
    thread_ = std::jthread([this] { serve(); });
  }
  ~Answerer() {
    thread_.join();
    ::unlink(path_.c_str());
  }
  [[nodiscard]] sockaddr_un address() const {
    sockaddr_un at{.sun_family = AF_UNIX, .sun_path = {}};
    std::memcpy(at.sun_path, path_.c_str(), path_.size() + 1);
    return at;
  }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  void serve() const {
    const UniqueFd client(::accept(listener_.get(), nullptr, nullptr));
    const std::string answer(kAnswer, 'a');
    std::array<char, 4096> buffer;
    while (::read(client.get(), buffer.data(), buffer.size()) > 0) {
      if (::send(client.get(), answer.data(), answer.size(), MSG_NOSIGNAL) < 0) return;
    }
  }

  std::string path_;
  UniqueFd listener_;
  std::jthread thread_;
};

void raw_epoll(benchmark::State& state) {
  const Answerer answerer;
  const sockaddr_un at = answerer.address();
  const UniqueFd client(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  ::connect(client.get(), reinterpret_cast<const sockaddr*>(&at), sizeof at);
  const UniqueFd poller(::epoll_create1(EPOLL_CLOEXEC));
  epoll_event event{.events = EPOLLIN | EPOLLET, .data = {}};
  ::epoll_ctl(poller.get(), EPOLL_CTL_ADD, client.get(), &event);
  const std::string question(kQuestion, 'q');
  std::array<char, 4096> buffer;
  const double begun = thread_cpu_us();
  for (auto _ : state) {
    ::send(client.get(), question.data(), question.size(), MSG_NOSIGNAL);
    for (std::size_t have = 0; have < kAnswer;) {
      ::epoll_wait(poller.get(), &event, 1, 1000);
      const ssize_t got = ::recv(client.get(), buffer.data(), buffer.size(), 0);
      if (got > 0) have += static_cast<std::size_t>(got);
    }
  }
  state.counters["cpu_us"] = (thread_cpu_us() - begun) / static_cast<double>(state.iterations());
}
BENCHMARK(raw_epoll)->UseRealTime()->MinTime(1);

Task<bool> ask(Stream* stream, std::string_view question, Deadline deadline) {
  const Result<void> sent = co_await stream->write(question, deadline);
  if (!sent) co_return false;
  std::array<char, 4096> buffer;
  for (std::size_t have = 0; have < kAnswer;) {
    const Result<std::size_t> got = co_await stream->read_some(buffer, deadline);
    if (!got) co_return false;
    have += *got;
  }
  co_return true;
}

Task<void> ask_all(Runtime* runtime, std::string path, benchmark::State* state) {
  const Endpoint at = Endpoint::unix_socket(std::move(path));
  Result<std::unique_ptr<Stream>> stream = co_await runtime->connect(at, runtime->deadline_in(1s));
  const std::string question(kQuestion, 'q');
  const double begun = thread_cpu_us();
  while (state->KeepRunning()) {
    const Deadline deadline = runtime->deadline_in(900ms);
    const bool answered = co_await ask(stream->get(), question, deadline);
    if (!answered) state->SkipWithError("no answer");
  }
  state->counters["cpu_us"] = (thread_cpu_us() - begun) / static_cast<double>(state->iterations());
}

void asio_stream(benchmark::State& state) {
  const Answerer answerer;
  AsioRuntime runtime;
  runtime.run(ask_all(&runtime, answerer.path(), &state));
}
BENCHMARK(asio_stream)->UseRealTime()->MinTime(1);

}  // namespace

BENCHMARK_MAIN();
