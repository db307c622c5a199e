#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "codec/ovsdb.h"
#include "runtime/runtime.h"

namespace wardmote::observe::ovn {

struct WatchOptions {
  Duration connect_timeout = std::chrono::seconds(2);
  /// ovsdb-server sends no keepalive on a unix socket, so the watch sends an `echo` this often and
  /// waits this long for an answer: a server that hangs is noticed after their sum at the latest.
  Duration echo_every = std::chrono::seconds(2);
  Duration echo_timeout = std::chrono::seconds(2);
  Duration first_retry = std::chrono::milliseconds(100);  ///< doubled up to last_retry
  Duration last_retry = std::chrono::seconds(5);
  /// How long until a server that knows no kind of monitor is asked again.
  Duration unsupported_retry = std::chrono::seconds(60);
};

/// Follows the `_Server` row of one database (`monitor_cond_since`, else `monitor_cond`, else
/// `monitor`, whichever the server knows) and reports at once when the row changes, and when the
/// server is lost or back. A change is a reason to probe, not a fact to judge: the probes ask for
/// everything. Life cycle: run() in a TaskGroup until cancelled; `runtime` and what `nudge` borrows
/// outlive it. Thread: the core loop.
class ServerWatch {
 public:
  /// Called on the core loop for each change, as often as the server sends one: the callee must
  /// coalesce.
  using Nudge = std::function<void()>;

  ServerWatch(runtime::Runtime& runtime, runtime::Endpoint ovsdb, std::string database, Nudge nudge,
              WatchOptions options = {});
  ~ServerWatch();
  ServerWatch(const ServerWatch&) = delete;
  ServerWatch& operator=(const ServerWatch&) = delete;

  /// Watches until cancelled, and reconnects when needed.
  runtime::Task<void> run();

  /// Whether the monitor is in place; row() is then up to date.
  [[nodiscard]] bool watching() const noexcept { return watching_; }
  /// The last known row, also after a loss; nothing when the server did not have the database.
  [[nodiscard]] const std::optional<codec::ServerRow>& row() const noexcept {
    return tracker_.row();
  }
  /// Why the last connection ended.
  [[nodiscard]] const std::optional<Error>& lost() const noexcept { return lost_; }

 private:
  struct Session;

  runtime::Task<void> keep_watching();
  runtime::Task<void> keep_echoing();
  /// One connection, from its begin to its end.
  runtime::Task<Error> watch_once();
  runtime::Task<Error> read_messages(std::shared_ptr<Session> session);
  runtime::Task<Result<void>> take(std::shared_ptr<Session> session,
                                   const codec::RpcMessage* message);
  runtime::Task<Result<void>> begin(std::shared_ptr<Session> session,
                                    const codec::RpcMessage* reply);
  /// Subscribes to changes.
  runtime::Task<Result<void>> ask(std::shared_ptr<Session> session, runtime::Deadline deadline);
  static runtime::Task<Result<void>> write(std::shared_ptr<Session> session, std::string bytes,
                                           runtime::Deadline deadline);
  [[nodiscard]] Duration pause_after(const Error& error, TimePoint begun);

  runtime::Runtime& runtime_;
  runtime::Endpoint ovsdb_;
  std::string database_;
  Nudge nudge_;
  WatchOptions options_;
  codec::ServerRowTracker tracker_;
  std::shared_ptr<Session> session_;
  std::optional<Error> lost_;
  Duration retry_;
  bool watching_ = false;
};

}  // namespace wardmote::observe::ovn
