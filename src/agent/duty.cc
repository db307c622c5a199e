#include "agent/duty.h"

#include <algorithm>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "agent/change_feed.h"
#include "agent/config/config.h"
#include "agent/notifier.h"
#include "agent/symptoms.h"
#include "base/log.h"
#include "base/result.h"
#include "base/text.h"
#include "base/time.h"
#include "judge/change.h"
#include "judge/finding.h"
#include "judge/incident/book.h"
#include "judge/incident/incident.h"
#include "judge/notify/matcher.h"
#include "runtime/runtime.h"
#include "runtime/task.h"
#include "store/clock_pair.h"
#include "store/incident_record.h"
#include "store/leadership.h"
#include "store/store.h"

namespace wardmote::agent {
namespace {

using judge::Severity;
using judge::incident::Incident;
using judge::incident::Step;
using judge::incident::StepKind;
using judge::incident::Steps;
using judge::notify::Labels;
using runtime::Task;
using namespace std::chrono_literals;

/// Time alone changes nothing so fast that more often would help.
constexpr Duration kShortestSleep = 1s;

LogLevel level_of(const Step& step) {
  if (step.kind == StepKind::kResolved || step.kind == StepKind::kMerged ||
      step.kind == StepKind::kAcknowledged) {
    return LogLevel::kInfo;
  }
  return step.incident.severity == Severity::kCritical ? LogLevel::kError : LogLevel::kWarning;
}

/// The incident that a change names in its data.
std::int64_t incident_in(const std::string& data) {
  boost::system::error_code broken;
  const boost::json::value value = boost::json::parse(data, broken);
  const boost::json::object* const fields = broken ? nullptr : value.if_object();
  const boost::json::value* const id =
      fields == nullptr ? nullptr : fields->if_contains("incident");
  return id != nullptr && id->is_int64() ? id->get_int64() : 0;
}

}  // namespace

Labels incident_labels(const Incident& incident, const config::Node& node,
                       const std::string& node_name) {
  Labels labels(node.labels.begin(), node.labels.end());
  labels["code"] = to_string(incident.code);
  labels["severity"] = to_string(incident.severity);
  labels["root"] = incident.root;
  labels["node"] = node_name;
  std::string_view subject = incident.root;
  labels["scope"] = take_until(subject, ':');
  labels["subject"] = subject;
  if (labels["scope"] == "cluster") labels["cluster"] = subject;
  if (labels["scope"] == "member") labels["cluster"] = take_until(subject, '/');
  return labels;
}

Duty::Duty(runtime::Runtime& runtime, store::Store* store, store::Leadership& leadership,
           const config::Config& config, std::string node, ChangeFeed& feed,
           NotifierOptions receivers)
    : runtime_(runtime),
      leadership_(leadership),
      config_(config),
      node_(std::move(node)),
      feed_(feed),
      book_(dependencies(config), book_policy(config)),
      ledger_(runtime, store, leadership),
      notifier_(runtime, ledger_, feed, std::move(receivers)),
      wake_up_(runtime, "watch incidents", [this] { take(book_.pass(runtime_.now())); }) {}

Task<Result<void>> Duty::open() {
  const auto records = co_await ledger_.load(std::string(store::kIncidentPrefix));
  if (!records) co_return std::unexpected(records.error());
  const store::ClockPair clock{runtime_.now(), runtime_.wall_now()};
  std::vector<Incident> incidents;
  for (const auto& [key, record] : *records) {
    auto incident = store::decode_incident(record, clock);
    if (!incident) {
      // Of a later version, or damaged: better to miss one than to watch nothing.
      log(LogLevel::kError, "record_not_understood", {{"key", key}});
      continue;
    }
    incidents.push_back(*std::move(incident));
  }
  std::ranges::sort(incidents, {}, &Incident::id);
  book_.recall(incidents, runtime_.now());
  schedule();
  const Result<void> opened = co_await notifier_.recall();
  co_return opened;
}

Task<void> Duty::stop() {
  co_await wake_up_.stop();
  co_await notifier_.stop();
  co_await ledger_.stop();
}

std::int64_t Duty::hear(const judge::Change& change) {
  if (change.scope == "incident") {
    return parse_number<std::int64_t>(change.subject).value_or(0);
  }
  if (change.scope == "receiver" || change.scope == "plan") return incident_in(change.data);
  const TimePoint now = runtime_.now();
  const std::optional<News> news = news_of(change, config_, now);
  if (!news) return 0;
  const std::int64_t before = book_.incident_of(news->symptom);
  if (!news->stands) {
    take(book_.clear(news->symptom, now));
    return before;
  }
  // What is only worth knowing wakes nobody; what was worse until now goes on as what it is.
  if (before == 0 && news->symptom.severity == Severity::kInfo) return 0;
  take(book_.raise(news->symptom, now));
  return book_.incident_of(news->symptom);
}

void Duty::reload(const std::vector<std::string>& gone) {
  take(book_.reshape(dependencies(config_), gone, runtime_.now()));
}

Result<void> Duty::acknowledge(std::int64_t id, std::string by, std::string comment) {
  const Steps steps = book_.acknowledge(id, std::move(by), std::move(comment), runtime_.now());
  if (steps.empty()) return fail(Errc::kMissing, "no incident of this number is open");
  take(steps);
  return {};
}

void Duty::take(const Steps& steps) {
  const store::ClockPair clock{runtime_.now(), runtime_.wall_now()};
  for (const Step& step : steps) {
    ledger_.put(store::incident_key(step.incident.id), store::encode(step.incident, clock));
    notifier_.hear(step, incident_labels(step.incident, config_.node, node_));
    tell(step);
  }
  for (const std::int64_t id : book_.take_forgotten()) {
    ledger_.put(store::incident_key(id), std::nullopt);
  }
  schedule();
}

void Duty::tell(const Step& step) {
  const Incident& incident = step.incident;
  boost::json::object more;
  if (step.kind == StepKind::kAcknowledged && incident.acknowledged) {
    more["by"] = escape_control(incident.acknowledged->by);
    more["comment"] = escape_control(incident.acknowledged->comment);
  }
  if (step.kind == StepKind::kMerged) more["merged_into"] = incident.merged_into;
  feed_.tell(level_of(step), "incident_" + std::string(to_string(step.kind)),
             {{"incident", std::to_string(incident.id)},
              {"root", incident.root},
              {"code", std::string(to_string(incident.code))},
              {"severity", std::string(to_string(incident.severity))},
              {"summary", incident.summary}},
             std::move(more));
}

void Duty::schedule() {
  if (const auto next = book_.next_change()) {
    wake_up_.at(std::max(*next, runtime_.now() + kShortestSleep));
  }
}

}  // namespace wardmote::agent
