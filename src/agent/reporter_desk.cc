#include "agent/reporter_desk.h"

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

#include "agent/config/config.h"
#include "base/log.h"
#include "base/result.h"
#include "base/text.h"
#include "base/time.h"
#include "codec/report_message.h"
#include "judge/judgement.h"
#include "judge/observation.h"
#include "judge/outcome.h"
#include "judge/report/reporters.h"
#include "net/datagram_listener.h"
#include "observe/probe.h"
#include "runtime/deadline.h"
#include "runtime/runtime.h"
#include "runtime/task.h"
#include "serve/answer.h"
#include "serve/role.h"
#include "serve/route.h"

namespace wardmote::agent {

using judge::ReporterStanding;
using judge::ReportQuality;
using runtime::Task;

namespace {

/// Looks this far apart mean that we did not run, so that nobody could report: a suspend, a pause.
constexpr Duration kGap = std::chrono::seconds(3);

/// Looks up one quality of one reporter. After a time in which we did not run, everybody has his
/// whole timeout again.
class ReporterProbe final : public observe::Probe {
 public:
  ReporterProbe(runtime::Runtime& runtime, const judge::Reporters& reporters, std::string subject,
                std::string reporter, ReportQuality quality)
      : runtime_(runtime),
        reporters_(reporters),
        subject_(std::move(subject)),
        reporter_(std::move(reporter)),
        quality_(quality) {}

  Task<judge::Observation> look(runtime::Deadline) override {
    judge::Observation seen;
    seen.subject = subject_;
    seen.begun = runtime_.now();
    seen.ended = seen.begun;
    const std::optional<ReporterStanding> standing = reporters_.standing(reporter_, seen.begun);
    if (!standing) {
      seen.reason = {judge::ReasonCode::kMissing, "no such reporter"};
      co_return seen;
    }
    const bool gap = last_look_ && seen.begun - *last_look_ > kGap;
    if (gap) patient_until_ = seen.begun + standing->timeout;
    last_look_ = seen.begun;
    if (standing->timed_out && seen.begun < patient_until_) {
      seen.reason = {judge::ReasonCode::kNotProbed,
                     "the agent did not run for a while, and waits for a report since"};
      co_return seen;
    }
    judge::Judgement judgement = judge_reporter(*standing, quality_);
    seen.outcome = judgement.outcome;
    seen.reason = std::move(judgement.reason);
    co_return seen;
  }

 private:
  runtime::Runtime& runtime_;
  const judge::Reporters& reporters_;
  std::string subject_;
  std::string reporter_;
  ReportQuality quality_;
  std::optional<TimePoint> last_look_;
  TimePoint patient_until_;
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
  object["age_ms"] = to_ms(standing.age);
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

ReporterDesk::ReporterDesk(runtime::Runtime& runtime,
                           std::function<void(std::string_view check)> heard)
    : runtime_(runtime), heard_(std::move(heard)), tasks_(runtime.executor()) {}

Result<ReporterDesk::Sockets> ReporterDesk::open(
    const std::vector<config::Reporter>& reporters) const {
  Sockets sockets;
  for (const config::Reporter& reporter : reporters) {
    if (!reporter.socket || ears_.contains(reporter.socket->path)) continue;
    auto socket = net::DatagramListener::open(runtime_.executor(), reporter.socket->path);
    if (!socket) return with_context(socket, "reporter {}", reporter.name);
    sockets.emplace(reporter.socket->path, *std::move(socket));
  }
  return sockets;
}

void ReporterDesk::reload(const std::vector<config::Reporter>& reporters, Sockets sockets) {
  const TimePoint now = runtime_.now();
  for (const config::Reporter& before : known_) {
    if (std::ranges::find(reporters, before.name, &config::Reporter::name) == reporters.end())
      reporters_.remove(before.name);
  }
  auto ears = std::exchange(ears_, {});
  for (const config::Reporter& reporter : reporters) {
    const auto before = std::ranges::find(known_, reporter.name, &config::Reporter::name);
    if (before == known_.end() || before->rule != reporter.rule)
      reporters_.add(reporter.name, reporter.rule, now);
    if (!reporter.socket) continue;
    const std::string& path = reporter.socket->path;
    const auto open = ears.find(path);
    if (open != ears.end() && open->second.reporter == reporter.name) {
      ears_.insert(ears.extract(open));
      continue;
    }
    Ear ear{reporter.name, nullptr};
    if (open != ears.end()) {
      ear.socket = open->second.socket;
    } else if (const auto fresh = sockets.find(path); fresh != sockets.end()) {
      ear.socket = std::move(fresh->second);
    }
    if (ear.socket == nullptr) continue;
    ear.task = tasks_.spawn("reports of " + reporter.name, hear(ear.socket, reporter.name));
    ears_.emplace(path, std::move(ear));
  }
  for (const auto& [path, ear] : ears) tasks_.cancel(ear.task);
  known_ = reporters;
}

std::unique_ptr<observe::Probe> ReporterDesk::probe(const config::Check& check) {
  const auto& reporter = std::get<std::string>(check.params.at("reporter"));
  const auto& quality = std::get<std::string>(check.params.at("quality"));
  return std::make_unique<ReporterProbe>(
      runtime_, reporters_, check.name, reporter,
      quality == "live" ? ReportQuality::kLive : ReportQuality::kReady);
}

Result<void> ReporterDesk::accept(std::string_view name, std::string_view message) {
  const TimePoint now = runtime_.now();
  const std::optional<ReporterStanding> standing = reporters_.standing(name, now);
  if (!standing) return fail(Errc::kMissing, "no reporter is named '{}'", escape_control(name, 64));
  Result<codec::ReportMessage> read = codec::parse_report_message(message);
  if (!read) return std::unexpected(read.error());
  reporters_.report(name, merged(standing->report, *std::move(read)), now);
  if (standing->rule.live) heard_(standing->name + ".live");
  if (standing->rule.ready) heard_(standing->name + ".ready");
  return {};
}

Task<void> ReporterDesk::hear(std::shared_ptr<net::DatagramListener> socket, std::string reporter) {
  std::array<char, codec::kLargestReport> datagram;
  for (bool complained = false;;) {
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

std::vector<serve::Route> ReporterDesk::routes() {
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
    const auto standing = reporters_.standing(ask.name, runtime_.now());
    return serve::json_answer(to_json(*standing));
  };
  using enum serve::Role;
  return {{"GET", "/api/v1/reporters", kViewer, list},
          {"PUT", "/api/v1/reporters/{name}", kOperator, take, false, true},
          {"POST", "/api/v1/reporters/{name}", kOperator, take, false, true}};
}

Task<void> ReporterDesk::stop() {
  co_await tasks_.stop();
  ears_.clear();
}

}  // namespace wardmote::agent
