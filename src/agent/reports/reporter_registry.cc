#include "agent/reports/reporter_registry.h"

#include <algorithm>
#include <array>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <chrono>
#include <cstddef>
#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "agent/domain.h"
#include "agent/domains.h"
#include "agent/scheduler.h"
#include "base/log.h"
#include "base/result.h"
#include "base/text.h"
#include "base/time.h"
#include "codec/report_message.h"
#include "config/config.h"
#include "config/reload_plan.h"
#include "incidents/record_writer.h"
#include "judge/judgement.h"
#include "judge/observation.h"
#include "judge/outcome.h"
#include "judge/report/reporters.h"
#include "net/datagram_listener.h"
#include "observe/kinds.h"
#include "observe/probe.h"
#include "runtime/deadline.h"
#include "runtime/http.h"
#include "runtime/runtime.h"
#include "runtime/task.h"
#include "serve/answer.h"
#include "serve/gates.h"
#include "serve/role.h"
#include "serve/route.h"
#include "store/report_record.h"

namespace wardmote::agent {

using judge::ReporterStanding;
using judge::ReportQuality;
using runtime::Task;

namespace {

/// Each reporter's checks look every second. When nobody was asked for longer than this, the
/// process did not run (a suspend, a pause), and nobody could report.
constexpr Duration kGap = std::chrono::seconds(3);
/// Of one socket in a second. Who sends more waits, and holds up nobody else.
constexpr std::size_t kMostDatagrams = 50;

/// Looks up one quality of one reporter.
class ReporterProbe final : public observe::Probe {
 public:
  ReporterProbe(runtime::Runtime& runtime, ReporterRegistry& registry, std::string subject,
                std::string reporter, ReportQuality quality)
      : runtime_(runtime),
        reporters_(registry),
        subject_(std::move(subject)),
        reporter_(std::move(reporter)),
        quality_(quality) {}

  Task<judge::Observation> look(runtime::Deadline) override {
    judge::Observation seen;
    seen.subject = subject_;
    seen.begun = runtime_.now();
    seen.ended = seen.begun;
    const std::optional<ReporterStanding> standing = reporters_.standing(reporter_);
    if (!standing) {
      seen.reason = {judge::ReasonCode::kMissing, "no such reporter"};
      co_return seen;
    }
    judge::Judgement judgement = judge_reporter(*standing, quality_);
    seen.outcome = judgement.outcome;
    seen.presumed = standing->presumed && seen.outcome == judge::Outcome::kOk;
    seen.reason = std::move(judgement.reason);
    co_return seen;
  }

 private:
  runtime::Runtime& runtime_;
  ReporterRegistry& reporters_;
  std::string subject_;
  std::string reporter_;
  ReportQuality quality_;
};

/// What a message does not say is as it was.
judge::Report merged(judge::Report report, codec::ReportMessage message) {
  report.live = message.live.value_or(report.live);
  report.ready = message.ready.value_or(report.ready);
  if (message.detail) report.detail = *std::move(message.detail);
  if (message.timeout) report.timeout = message.timeout;
  return report;
}

boost::json::object to_json(const ReporterStanding& standing) {
  boost::json::object object;
  object["name"] = standing.name;
  object["live"] = nullptr;
  if (standing.rule.live) object["live"] = standing.live();
  object["ready"] = nullptr;
  if (standing.rule.ready) object["ready"] = standing.ready();
  object["timed_out"] = standing.timed_out;
  object["reported"] = standing.reported;
  object["age_ms"] = nullptr;
  if (!standing.recalled) object["age_ms"] = to_ms(standing.age);
  object["timeout_ms"] = nullptr;
  if (standing.timeout > Duration::zero()) object["timeout_ms"] = to_ms(standing.timeout);
  object["overridden"] = standing.overridden;
  object["detail"] = escape_control(standing.report.detail);
  return object;
}

int status_of(Errc code) noexcept {
  switch (code) {
    case Errc::kMissing: return 404;
    case Errc::kLimit: return 413;
    default: return 400;
  }
}

}  // namespace

ReporterRegistry::ReporterRegistry(runtime::Runtime& runtime,
                                   std::function<void(std::string_view check)> heard,
                                   incidents::RecordWriter* records, std::string node)
    : runtime_(runtime),
      heard_(std::move(heard)),
      records_(records),
      node_(std::move(node)),
      tasks_(runtime.executor()) {}

ReporterRegistry::ReporterRegistry(const DomainTools& tools)
    : ReporterRegistry(
          tools.runtime,
          [&scheduler = tools.scheduler](std::string_view check) { scheduler.look_now(check); },
          &tools.records, tools.node) {}

Task<Result<void>> ReporterRegistry::recall() {
  if (records_ == nullptr) co_return Result<void>();
  const std::string prefix = store::report_prefix(node_);
  const auto records = co_await records_->load(prefix);
  if (!records) co_return std::unexpected(records.error());
  for (const auto& [key, record] : *records) {
    auto report = store::decode_report(record);
    if (report) {
      recalled_.emplace(key.substr(prefix.size()), *std::move(report));
    } else {
      log(LogLevel::kError, "record_not_understood", {{"key", key}});
    }
  }
  co_return Result<void>();
}

void ReporterRegistry::keep(const std::string& reporter, std::optional<std::string> record) {
  if (records_ != nullptr) records_->put(store::report_key(node_, reporter), std::move(record));
}

Result<Domain::Adopt> ReporterRegistry::prepare(const config::Config& next) {
  Result<Sockets> sockets = open(next.reporters);
  if (!sockets) return std::unexpected(sockets.error());
  return [this, sockets = *std::move(sockets)](const config::Config& now,
                                               const config::ReloadPlan&) mutable {
    reload(now.reporters, std::move(sockets));
  };
}

const observe::ProbeKind& ReporterRegistry::kind() const noexcept {
  return config::reporter_kind();
}

Result<ReporterRegistry::Sockets> ReporterRegistry::open(
    const std::vector<config::Reporter>& reporters) const {
  Sockets sockets;
  for (const config::Reporter& reporter : reporters) {
    if (!reporter.socket || sockets_.contains(reporter.socket->path)) continue;
    auto socket = net::DatagramListener::open(runtime_.executor(), reporter.socket->path);
    if (!socket) return with_context(socket, "reporter {}", reporter.name);
    sockets.emplace(reporter.socket->path, *std::move(socket));
  }
  return sockets;
}

void ReporterRegistry::reload(const std::vector<config::Reporter>& reporters, Sockets sockets) {
  const TimePoint now = runtime_.now();
  // Without reporters nobody looked.
  if (known_.empty()) last_asked_ = now;
  for (const config::Reporter& before : known_) {
    if (std::ranges::find(reporters, before.name, &config::Reporter::name) != reporters.end())
      continue;
    reporters_.remove(before.name);
    keep(before.name, std::nullopt);
  }
  auto bound = std::exchange(sockets_, {});
  for (const config::Reporter& reporter : reporters) {
    const auto before = std::ranges::find(known_, reporter.name, &config::Reporter::name);
    if (before == known_.end()) {
      reporters_.add(reporter.name, reporter.rule, now);
      const auto said = recalled_.extract(reporter.name);
      if (said) reporters_.recall(reporter.name, said.mapped(), now);
    } else {
      reporters_.set_rule(reporter.name, reporter.rule);
    }
    if (!reporter.socket) continue;
    const std::string& path = reporter.socket->path;
    const auto open = bound.find(path);
    if (open != bound.end() && open->second.reporter == reporter.name) {
      sockets_.insert(bound.extract(open));
      continue;
    }
    ReportSocket socket{reporter.name, nullptr};
    if (open != bound.end()) {
      socket.socket = open->second.socket;
    } else if (const auto fresh = sockets.find(path); fresh != sockets.end()) {
      socket.socket = std::move(fresh->second);
    }
    if (socket.socket == nullptr) continue;
    socket.task = tasks_.spawn("reports of " + reporter.name, hear(socket.socket, reporter.name));
    sockets_.emplace(path, std::move(socket));
  }
  for (const auto& [path, socket] : bound) tasks_.cancel(socket.task);
  for (const auto& [name, said] : std::exchange(recalled_, {})) keep(name, std::nullopt);
  known_ = reporters;
}

std::unique_ptr<observe::Probe> ReporterRegistry::probe(const config::Check& check) {
  const auto& reporter = std::get<std::string>(check.params.at("reporter"));
  const auto& quality = std::get<std::string>(check.params.at("quality"));
  return std::make_unique<ReporterProbe>(
      runtime_, *this, check.name, reporter,
      quality == "live" ? ReportQuality::kLive : ReportQuality::kReady);
}

/// Whoever is asked first after a pause notices it, so that nobody is shown as overdue for it.
TimePoint ReporterRegistry::notice_pause() {
  const TimePoint now = runtime_.now();
  if (now - last_asked_ > kGap) reporters_.resume(now);
  last_asked_ = now;
  return now;
}

std::optional<ReporterStanding> ReporterRegistry::standing(std::string_view name) {
  return reporters_.standing(name, notice_pause());
}

std::vector<ReporterStanding> ReporterRegistry::standings() {
  return reporters_.standings(notice_pause());
}

Result<void> ReporterRegistry::accept(std::string_view name, std::string_view message) {
  const TimePoint now = notice_pause();
  const std::optional<ReporterStanding> standing = reporters_.standing(name, now);
  if (!standing) return fail(Errc::kMissing, "no reporter is named '{}'", escape_control(name, 64));
  Result<codec::ReportMessage> read = codec::parse_report_message(message);
  if (!read) return std::unexpected(read.error());
  const judge::Report report = merged(standing->report, *std::move(read));
  // What it says beside that changes with each report, and is no state.
  const bool same =
      standing->reported && !standing->recalled && report.live == standing->report.live &&
      report.ready == standing->report.ready && report.timeout == standing->report.timeout;
  if (!same) keep(standing->name, store::encode(report));
  reporters_.report(name, report, now);
  if (standing->rule.live) heard_(standing->name + ".live");
  if (standing->rule.ready) heard_(standing->name + ".ready");
  return {};
}

std::shared_ptr<runtime::HttpHold> ReporterRegistry::written(std::string_view name) {
  // Also of one that says again what could not be written the first time.
  if (records_ == nullptr || !records_->owes(store::report_key(node_, std::string(name))))
    return nullptr;
  return records_->hold();
}

Task<void> ReporterRegistry::hear(std::shared_ptr<net::DatagramListener> socket,
                                  std::string reporter) {
  std::array<char, codec::kLargestReport> datagram;
  TimePoint second = runtime_.now();
  std::size_t heard = 0;
  for (bool complained = false;;) {
    if (heard == kMostDatagrams) {
      co_await runtime_.sleep_until(second + std::chrono::seconds(1));
      second = runtime_.now();
      heard = 0;
    }
    ++heard;
    const Result<std::size_t> size = co_await socket->receive(datagram);
    Result<void> accepted;
    if (!size) {
      accepted = std::unexpected(size.error());
    } else {
      accepted = accept(reporter, {datagram.data(), *size});
    }
    // The first of a row is enough: who sends nonsense often sends it often.
    if (!accepted && !complained) {
      log(LogLevel::kWarning, "report_refused",
          {{"reporter", reporter}, {"reason", accepted.error().describe()}});
    }
    complained = !accepted;
    if (!size && size.error().code != Errc::kLimit) co_return;
  }
}

std::vector<serve::Route> ReporterRegistry::routes() {
  const auto list = [this](const serve::Ask& ask) {
    boost::json::array all;
    for (const ReporterStanding& standing : standings()) all.emplace_back(to_json(standing));
    boost::json::object body;
    body["at"] = format_utc(ask.view.wall_now);
    body["reporters"] = std::move(all);
    return serve::json_answer(body);
  };
  const auto take = [this](const serve::Ask& ask) {
    const Result<void> accepted = accept(ask.name, ask.request.body);
    if (!accepted)
      return serve::error_answer(status_of(accepted.error().code), accepted.error().context);
    runtime::HttpResponse answer = serve::json_answer(to_json(*standing(ask.name)));
    answer.hold = written(ask.name);
    return answer;
  };
  using enum serve::Role;
  std::vector<serve::Route> routes = serve::health_table_routes([this] { return standings(); });
  routes.push_back({"GET", "/api/v1/reporters", kViewer, list});
  routes.push_back({"PUT", "/api/v1/reporters/{name}", kOperator, take, false, true});
  routes.push_back({"POST", "/api/v1/reporters/{name}", kOperator, take, false, true});
  return routes;
}

Task<void> ReporterRegistry::stop() {
  // Its details, too, which were not written with each report.
  for (const ReporterStanding& standing : standings())
    if (standing.reported) keep(standing.name, store::encode(standing.report));
  co_await tasks_.stop();
  sockets_.clear();
}

}  // namespace wardmote::agent
