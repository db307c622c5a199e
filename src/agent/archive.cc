#include "agent/archive.h"

#include <algorithm>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "agent/board.h"
#include "base/format.h"
#include "base/result.h"
#include "base/time.h"
#include "judge/change.h"
#include "judge/finding.h"
#include "judge/observation.h"
#include "judge/outcome.h"
#include "judge/raft/opinion.h"
#include "runtime/task.h"
#include "serve/view.h"
#include "store/history.h"
#include "store/samples.h"

namespace wardmote::agent {
namespace {

/// The member that a change of a cluster is about.
std::string member_in(const std::string& data) {
  boost::system::error_code broken;
  const boost::json::value value = boost::json::parse(data, broken);
  const boost::json::object* const fields = value.if_object();
  const boost::json::value* const member =
      fields == nullptr ? nullptr : fields->if_contains("member");
  return member != nullptr && member->is_string() ? std::string(member->get_string()) : "";
}

}  // namespace

runtime::Task<Result<void>> Archive::open() {
  Result<void> opened = co_await history_.open();
  if (opened) opened = co_await samples_.open();
  co_return opened;
}

runtime::Task<void> Archive::stop() {
  co_await history_.stop();
  co_await samples_.stop();
}

void Archive::measure(const std::string& check, const judge::Observation& seen) {
  measure(check, seen.outcome, seen.ended - seen.begun);
}

void Archive::measure(const serve::ClusterView& judged) {
  Duration longest{};
  for (std::size_t i = 0; i < judged.opinions.size(); ++i) {
    const judge::raft::Opinion& opinion = judged.opinions[i];
    const std::string subject = judged.name + "/" + opinion.member;
    const Duration took = opinion.ended - opinion.begun;
    longest = std::max(longest, took);
    measure(subject, judged.assessment.members.at(i).outcome, took);
    if (!opinion.status) continue;
    const judge::raft::Status& status = *opinion.status;
    const std::uint64_t entries = status.log_next - std::min(status.log_start, status.log_next);
    const store::Measured values[] = {
        {store::Measure::kLogEntries, static_cast<std::int64_t>(entries)},
        {store::Measure::kUncommitted, static_cast<std::int64_t>(status.uncommitted)},
        {store::Measure::kUnapplied, static_cast<std::int64_t>(status.unapplied)}};
    samples_.add(subject, values);
  }
  measure(judged.name, outcome_of(judged.assessment.verdict), longest);
}

void Archive::measure(const std::string& subject, judge::Outcome outcome, Duration took) {
  const bool good = outcome == judge::Outcome::kOk || outcome == judge::Outcome::kWarn;
  const store::Measured values[] = {
      {store::Measure::kTook, std::chrono::duration_cast<std::chrono::microseconds>(took).count()},
      {store::Measure::kGood, good ? 1 : 0}};
  const bool known = outcome != judge::Outcome::kUnknown;
  samples_.add(subject, std::span(values).first(known ? 2 : 1));
}

store::Event event_of(const judge::Change& change) {
  store::Event event;
  event.at = change.at;
  event.kind = change.kind;
  event.scope = change.scope;
  event.subject = change.subject;
  event.data = change.data;
  if (change.finding) {
    event.code = to_string(change.finding->code);
    event.severity = to_string(change.finding->severity);
    event.names = fmt::format("{}", fmt::join(change.finding->subjects, " "));
  } else if (change.kind == "member_changed") {
    event.names = member_in(change.data);
  }
  return event;
}

void Archive::keep(const judge::Change& change, std::int64_t incident) {
  store::Event event = event_of(change);
  event.incident = incident;
  history_.add(std::move(event));
}

}  // namespace wardmote::agent
