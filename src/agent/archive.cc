#include "agent/archive.h"

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>

#include "base/format.h"
#include "base/result.h"
#include "base/time.h"
#include "judge/change.h"
#include "judge/finding.h"
#include "judge/observation.h"
#include "judge/outcome.h"
#include "judge/thing.h"
#include "runtime/task.h"
#include "serve/change_text.h"
#include "store/history.h"
#include "store/samples.h"

namespace wardmote::agent {
runtime::Task<Result<void>> Archive::open() {
  Result<void> opened = co_await history_.open();
  if (opened) opened = co_await samples_.open();
  co_return opened;
}

runtime::Task<void> Archive::stop() {
  co_await history_.stop();
  co_await samples_.stop();
}

std::optional<std::string> Archive::complaint() const {
  if (const auto& complaint = history_.counters().complaint) return complaint;
  return samples_.complaint();
}

void Archive::measure(const std::string& check, const judge::Observation& seen) {
  measure(check, seen.outcome, seen.ended - seen.begun);
}

void Archive::measure(const std::string& subject, judge::Outcome outcome, Duration took) {
  const bool good = outcome == judge::Outcome::kOk || outcome == judge::Outcome::kWarn;
  const store::Measured values[] = {
      {store::Measure::kTook, std::chrono::duration_cast<std::chrono::microseconds>(took).count()},
      {store::Measure::kGood, good ? 1 : 0}};
  const bool known = outcome != judge::Outcome::kUnknown;
  samples_.add(subject, std::span(values).first(known ? 2 : 1));
}

store::Event event_of(const judge::Change& change, const serve::ChangeText& text) {
  store::Event event;
  event.at = change.at;
  event.kind = text.kind;
  event.scope = to_string(change.of.kind);
  event.subject = change.of.name;
  event.data = text.data;
  if (const auto* const told = std::get_if<judge::FindingChanged>(&change.event)) {
    event.code = to_string(told->finding.code);
    event.severity = to_string(told->finding.severity);
    event.names = fmt::format("{}", fmt::join(told->finding.subjects, " "));
  } else if (const auto* const member = std::get_if<judge::MemberChanged>(&change.event)) {
    event.names = member->member;
  } else if (const auto* const notice = std::get_if<judge::DeliveryChanged>(&change.event)) {
    // One is in a column of its own.
    if (notice->incidents.size() > 1)
      event.names = fmt::format("#{}", fmt::join(notice->incidents, " #"));
  }
  return event;
}

void Archive::keep(const judge::Change& change, const serve::ChangeText& text,
                   std::int64_t incident) {
  store::Event event = event_of(change, text);
  event.incident = incident;
  history_.add(std::move(event));
}

}  // namespace wardmote::agent
