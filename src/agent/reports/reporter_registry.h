#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/domain.h"
#include "agent/domains.h"
#include "base/result.h"
#include "base/time.h"
#include "config/config.h"
#include "incidents/record_writer.h"
#include "judge/report/reporters.h"
#include "net/datagram_listener.h"
#include "observe/probe.h"
#include "runtime/http.h"
#include "runtime/runtime.h"
#include "runtime/task.h"
#include "runtime/task_group.h"
#include "serve/route.h"

namespace wardmote::agent {

/// Where others push reports of themselves: over HTTP and by datagrams. Each quality that a
/// reporter reports is a check, whose probe looks up here what was said last. Life cycle: outlives
/// its probes. Thread: the core loop.
class ReporterRegistry final : public Domain {
 public:
  /// `heard` is called with the name of each check that a report concerns.
  ReporterRegistry(runtime::Runtime& runtime, std::function<void(std::string_view check)> heard,
                   incidents::RecordWriter* records = nullptr, std::string node = "");
  explicit ReporterRegistry(const DomainTools& tools);

  /// What reporters said last stands again, and their timeouts begin anew.
  runtime::Task<Result<void>> recall() override;
  Result<Adopt> prepare(const config::Config& next) override;
  [[nodiscard]] const observe::ProbeKind& kind() const noexcept override;

  using Sockets = std::map<std::string, std::unique_ptr<net::DatagramListener>>;
  /// Binds the sockets of `reporters` that are not bound yet; by path. Changes nothing else.
  Result<Sockets> open(const std::vector<config::Reporter>& reporters) const;
  /// Goes over to `reporters`, for whom open() gave `sockets`. Who stays the same keeps what he
  /// said.
  void reload(const std::vector<config::Reporter>& reporters, Sockets sockets);
  std::unique_ptr<observe::Probe> probe(const config::Check& check) override;

  /// A message from outside. kMissing: nobody has that name; kProtocol, kLimit.
  Result<void> accept(std::string_view name, std::string_view message);
  /// Holds the answer to a report until the state that it tells is written down, or says that it is
  /// not (503). Null: it is, or nothing outlives the agent.
  std::shared_ptr<runtime::HttpHold> written(std::string_view name);
  /// As of now. After a time in which this process did not run, everybody's timeout begins anew.
  std::optional<judge::ReporterStanding> standing(std::string_view name);
  std::vector<judge::ReporterStanding> standings();
  /// GET /api/v1/reporters, PUT and POST /api/v1/reporters/{name}, and the health table.
  std::vector<serve::Route> routes() override;

  runtime::Task<void> stop() override;

 private:
  /// One socket and the task that hears it.
  struct ReportSocket {
    std::string reporter;
    std::shared_ptr<net::DatagramListener> socket;
    runtime::TaskGroup::TaskId task = 0;
  };

  TimePoint notice_pause();
  void keep(const std::string& reporter, std::optional<std::string> record);
  runtime::Task<void> hear(std::shared_ptr<net::DatagramListener> socket, std::string reporter);

  runtime::Runtime& runtime_;
  std::function<void(std::string_view check)> heard_;
  incidents::RecordWriter* records_;  ///< null: nothing outlives the agent
  const std::string node_;
  std::map<std::string, judge::Report> recalled_;  ///< of an earlier life, until they are adopted
  judge::Reporters reporters_;
  TimePoint last_asked_;
  std::vector<config::Reporter> known_;
  std::map<std::string, ReportSocket> sockets_;  // by path
  runtime::TaskGroup tasks_;
};

}  // namespace wardmote::agent
