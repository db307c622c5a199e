#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "agent/config/config.h"
#include "base/result.h"
#include "judge/report/reporters.h"
#include "net/datagram_listener.h"
#include "observe/probe.h"
#include "runtime/runtime.h"
#include "runtime/task_group.h"
#include "serve/route.h"

namespace wardmote::agent {

/// Where others push reports of themselves: over HTTP and by datagrams. Each quality that a
/// reporter reports is a check, whose probe looks up here what was said last. Life cycle: outlives
/// its probes; stop() before destruction. Thread: the core loop.
class ReporterDesk {
 public:
  /// `heard` is called with the name of each check that a report concerns.
  ReporterDesk(runtime::Runtime& runtime, std::function<void(std::string_view check)> heard);

  using Sockets = std::map<std::string, std::unique_ptr<net::DatagramListener>>;
  /// Binds the sockets of `reporters` that are not bound yet; by path. Changes nothing else.
  Result<Sockets> open(const std::vector<config::Reporter>& reporters) const;
  /// Goes over to `reporters`, for whom open() gave `sockets`. Who stays the same keeps what he
  /// said.
  void reload(const std::vector<config::Reporter>& reporters, Sockets sockets);
  /// The probe of a check of the kind config::reporter_kind().
  std::unique_ptr<observe::Probe> probe(const config::Check& check);

  /// A message from outside. kMissing: nobody has that name; kProtocol, kLimit.
  Result<void> accept(std::string_view name, std::string_view message);
  [[nodiscard]] std::vector<judge::ReporterStanding> standings() const {
    return reporters_.standings(runtime_.now());
  }
  /// GET /api/v1/reporters, PUT and POST /api/v1/reporters/{name}.
  std::vector<serve::Route> routes();

  runtime::Task<void> stop();

 private:
  /// One socket and the task that hears it.
  struct Ear {
    std::string reporter;
    std::shared_ptr<net::DatagramListener> socket;
    runtime::TaskGroup::TaskId task = 0;
  };

  runtime::Task<void> hear(std::shared_ptr<net::DatagramListener> socket, std::string reporter);

  runtime::Runtime& runtime_;
  std::function<void(std::string_view check)> heard_;
  judge::Reporters reporters_;
  std::vector<config::Reporter> known_;
  std::map<std::string, Ear> ears_;  // by path
  runtime::TaskGroup tasks_;
};

}  // namespace wardmote::agent
