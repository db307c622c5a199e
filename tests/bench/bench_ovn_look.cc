// What one look at a member costs the agent: both sockets, both answers parsed. The server is
// another process, so its CPU does not count; `CPU` is all of ours.
#include <benchmark/benchmark.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <filesystem>

#include "net/asio_runtime.h"
#include "observe/ovn/member.h"
#include "support/ovn_captures.h"

namespace {

using namespace wardmote;
using namespace std::chrono_literals;

constexpr std::string_view kRow =
    R"([{"rows":[{"model":"clustered","leader":true,"connected":true,"sid":["uuid","dea645fa-f66d-419f-89d2-9ef5ed65767e"],)"
    R"("cid":["uuid","b563dad3-5d5e-4b38-a150-859542fb32c9"],"index":4}]}])";

int listen_at(const std::string& path) {
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{.sun_family = AF_UNIX};
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  check(::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0, "bind");
  check(::listen(fd, 64) == 0, "listen");
  return fd;
}

/// Answers every read with the canned reply for the id in it; a request fits one read.
[[noreturn]] void serve_forever(std::array<int, 2> listeners,
                                const std::array<std::string, 2>& results) {
  struct Client {
    int fd;
    std::size_t which;
  };
  std::vector<Client> clients;
  for (;;) {
    std::vector<pollfd> fds{{listeners[0], POLLIN, 0}, {listeners[1], POLLIN, 0}};
    for (const Client& client : clients) fds.push_back({client.fd, POLLIN, 0});
    ::poll(fds.data(), fds.size(), -1);
    for (std::size_t i = fds.size(); i-- > 2;) {
      if (fds[i].revents == 0) continue;
      std::array<char, 4096> request;
      const ssize_t size = ::read(fds[i].fd, request.data(), request.size());
      if (size <= 0) {
        ::close(fds[i].fd);
        clients.erase(clients.begin() + static_cast<std::ptrdiff_t>(i) - 2);
        continue;
      }
      std::string_view text(request.data(), static_cast<std::size_t>(size));
      // Any other answer would be read as the names of more databases, each of which is asked.
      const bool lists = text.contains("list-dbs");
      consume_prefix(text, "{\"id\":");
      const std::string reply =
          fmt::format(R"({{"id":{},"result":{},"error":null}})", take_until(text, ','),
                      lists ? R"("OVN_Northbound\n_Server\n")" : results[clients[i - 2].which]);
      static_cast<void>(::write(fds[i].fd, reply.data(), reply.size()));
    }
    for (std::size_t i : {0U, 1U}) {
      if (fds[i].revents != 0) clients.push_back({::accept(listeners[i], nullptr, nullptr), i});
    }
  }
}

/// A server process on two sockets, as long as it lives.
class Server {
 public:
  Server()
      : folder_(std::filesystem::temp_directory_path() /
                fmt::format("wardmote-bench-{}", ::getpid())) {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    const std::array<int, 2> listeners{listen_at(path("nb.ctl")), listen_at(path("nb.sock"))};
    const std::array<std::string, 2> results{
        codec::json_string(testing::statuses_of("14-stale-same-address.txt").at(0)),
        std::string(kRow)};
    child_ = ::fork();
    if (child_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      serve_forever(listeners, results);
    }
    for (const int fd : listeners) ::close(fd);
  }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  ~Server() {
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
    std::filesystem::remove_all(folder_);
  }
  [[nodiscard]] std::string path(std::string_view name) const { return (folder_ / name).string(); }

 private:
  std::filesystem::path folder_;
  pid_t child_ = -1;
};

runtime::Task<void> look_many(benchmark::State* state, net::AsioRuntime* runtime,
                              observe::ovn::Member* member) {
  for (auto _ : *state) {
    const judge::raft::Opinion opinion = co_await member->look(runtime->deadline_in(1s));
    check(opinion.status && opinion.local, "a look failed");
  }
}

void look(benchmark::State& state) {
  Server server;
  net::AsioRuntime runtime;
  observe::ovn::MemberTarget target;
  target.database = "OVN_Northbound";
  target.control = runtime::Endpoint::unix_socket(server.path("nb.ctl"));
  target.ovsdb = runtime::Endpoint::unix_socket(server.path("nb.sock"));
  target.options.fresh_every = static_cast<unsigned>(state.range(0));
  observe::ovn::Member member(runtime, std::move(target));
  runtime.run(look_many(&state, &runtime, &member));
  state.SetLabel(state.range(0) == 1   ? "connect each time"
                 : state.range(0) == 0 ? "kept open"
                                       : "as configured");
}
BENCHMARK(look)->Arg(0)->Arg(10)->Arg(1)->MeasureProcessCPUTime()->UseRealTime();

}  // namespace

BENCHMARK_MAIN();
