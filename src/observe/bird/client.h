#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "codec/bird.h"
#include "judge/observation.h"
#include "observe/shared_client.h"
#include "runtime/deadline.h"
#include "runtime/endpoint.h"
#include "runtime/runtime.h"
#include "runtime/stream.h"
#include "runtime/task.h"

namespace wardmote::observe::bird {

struct ClientOptions {
  /// Every Nth probe opens a new connection, so that a daemon which accepts no more connections is
  /// noticed; 1: every probe.
  unsigned fresh_every = 10;
  bool detailed = true;  ///< `show protocols all`; otherwise `show protocols` only
  codec::BirdLimits limits;
};

/// What a BIRD reported in one probe, over one connection.
struct Snapshot {
  codec::BirdStatus status;
  codec::BirdProtocols protocols;
};

/// One open connection to the control socket of a BIRD. On a new connection it first gives up the
/// right to change anything (`restrict`). After any failure the connection is dropped. If the
/// daemon has closed it since the last probe, the same probe connects again. Life cycle: `runtime`
/// outlives it. Thread: the core loop; one probe at a time.
class Client {
 public:
  using Snapshot = bird::Snapshot;

  /// The first socket of `at` at which a daemon answers is used.
  Client(runtime::Runtime& runtime, std::vector<runtime::Endpoint> at, ClientOptions options);

  /// Both replies completely, or the reason why not: kMissing, kRefused, kDenied, kTimeout (with
  /// what had arrived, and the state of the process), kClosed, kProtocol, kLimit, kRejected,
  /// kExhausted.
  runtime::Task<Result<Snapshot>> look(runtime::Deadline deadline);

  /// The process that holds the socket of the last good probe; 0 when unknown.
  [[nodiscard]] std::uint32_t holder() const;
  void set_fresh_every(unsigned looks) noexcept { options_.fresh_every = looks; }
  /// Drops the connection, for example after a probe was cancelled.
  void drop() noexcept { connection_.reset(); }
  /// What the last probe cost.
  [[nodiscard]] const judge::Cost& cost() const noexcept { return cost_; }

 private:
  struct Connection {
    Connection(std::unique_ptr<runtime::Stream> opened, runtime::Endpoint to,
               codec::BirdLimits limits)
        : stream(std::move(opened)), at(std::move(to)), reader(limits) {}
    std::unique_ptr<runtime::Stream> stream;
    runtime::Endpoint at;
    codec::BirdReader reader;
  };

  runtime::Task<Result<Snapshot>> ask(runtime::Deadline deadline);
  runtime::Task<Result<void>> connect(runtime::Deadline deadline);
  runtime::Task<Result<void>> greet(runtime::Deadline deadline);
  runtime::Task<Result<void>> write(std::string_view commands, runtime::Deadline deadline);
  runtime::Task<Result<codec::BirdLine>> read_line(runtime::Deadline deadline);
  template <class Parser>
  runtime::Task<Result<void>> read_reply(Parser* parser, std::string_view command,
                                         runtime::Deadline deadline);

  runtime::Runtime& runtime_;
  std::vector<runtime::Endpoint> at_;
  ClientOptions options_;
  std::unique_ptr<Connection> connection_;
  std::uint64_t looks_ = 0;
  judge::Cost cost_;
};

using SharedClient = observe::SharedClient<Client>;
/// The client of all checks on `runtime` that ask the same sockets in the same way.
std::shared_ptr<SharedClient> share_client(runtime::Runtime& runtime,
                                           std::vector<runtime::Endpoint> at,
                                           ClientOptions options);

}  // namespace wardmote::observe::bird
