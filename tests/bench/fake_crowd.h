#pragma once
// A crowd of peers in one process and on one thread, as cheap as they can be, so that a benchmark
// of ten thousand checks measures who looks and not who is looked at.

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <cstdint>

#include "net/unique_fd.h"

namespace wardmote::bench {

class FakeCrowd {
 public:
  enum class Then : std::uint8_t { kKeepOpen, kClose };
  /// Takes what it understands off `received`, and appends to `reply`.
  using Answer = std::function<Then(std::string& received, std::string& reply)>;

  FakeCrowd();

  /// Ends the process with a message when nobody can listen there.
  void listen_unix(const std::string& path, Answer answer);
  /// On every address of this machine, so that each of 127.0.0.0/8 is a peer of its own.
  void listen_tcp(std::uint16_t port, Answer answer);
  /// For ever. A line on standard output for each second: how many connections were accepted and
  /// how many replies were sent in it, and how many connections are open.
  [[noreturn]] void run();

 private:
  struct Peer {
    net::UniqueFd fd;
    const Answer* answer = nullptr;
    bool listens = false;
    std::string received;
  };

  void listen(net::UniqueFd fd, Answer answer);
  void watch(net::UniqueFd fd, const Answer* answer, bool listens);
  void accept_all(const Peer& listener);
  void serve(Peer& peer);
  void close(int fd);
  void report();

  net::UniqueFd poller_;
  std::vector<std::unique_ptr<Answer>> answers_;
  std::vector<std::unique_ptr<Peer>> peers_;  // by descriptor
  std::string reply_;
  long accepted_ = 0;
  long replied_ = 0;
  long open_ = 0;
};

}  // namespace wardmote::bench
