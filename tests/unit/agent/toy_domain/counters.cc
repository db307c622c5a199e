#include "unit/agent/toy_domain/counters.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <variant>

#include "base/time.h"
#include "judge/finding.h"
#include "judge/incident/graph.h"
#include "judge/outcome.h"
#include "runtime/deadline.h"
#include "runtime/task.h"
#include "unit/agent/toy_domain/counter_view.h"

namespace wardmote::agent::toy {
namespace {

using judge::Observation;
using judge::incident::check_node;

constexpr observe::ParamSpec kParams[] = {
    {"of", observe::ParamType::kText, true, "the check whose failed looks are counted"},
    {"most", observe::ParamType::kInteger, true, "how many failed looks in a row are allowed"}};
constexpr observe::ProbeKind kKind{"counter", "failed looks in a row", kParams, nullptr};

class CounterProbe final : public observe::Probe {
 public:
  CounterProbe(Counters& counters, std::string name)
      : counters_(counters), name_(std::move(name)) {}
  runtime::Task<Observation> look(runtime::Deadline) override { co_return counters_.judge(name_); }

 private:
  Counters& counters_;
  std::string name_;
};

bool is_counter(const config::Check& check) {
  return check.kind->name == kKind.name;
}

const std::string& counted_by(const config::Check& check) {
  return std::get<std::string>(check.params.at("of"));
}

int most_of(const config::Check& check) {
  return static_cast<int>(std::get<std::int64_t>(check.params.at("most")));
}

std::shared_ptr<const serve::ThingView> not_judged(const config::Check& check, TimePoint now) {
  auto view = std::make_shared<serve::toy::CounterView>(check.name);
  view->counter = {.of = counted_by(check), .most = most_of(check)};
  view->judged = now;
  return view;
}

template <class Kind>
std::unique_ptr<Domain> make(const DomainTools& tools) {
  return std::make_unique<Kind>(tools);
}

}  // namespace

void Counters::depend(const config::Config& config, judge::incident::Dependencies& known) {
  for (const config::Check& check : config.checks) {
    if (!is_counter(check)) continue;
    judge::incident::CheckPlace& place = known.checks[check.name];
    place.has_findings = true;
    place.above = {check_node(counted_by(check))};
  }
}

Result<Domain::Adopt> Counters::prepare(const config::Config& next) {
  for (const config::Check& check : next.checks) {
    if (is_counter(check) && most_of(check) < 0)
      return fail(Errc::kInvalid, "counter {}: most is less than 0", check.name);
  }
  return [this](const config::Config& now, const config::ReloadPlan& plan) { adopt(now, plan); };
}

const observe::ProbeKind& Counters::kind() const noexcept {
  return kinds_with_counters().back();
}

std::unique_ptr<observe::Probe> Counters::probe(const config::Check& check) {
  return std::make_unique<CounterProbe>(*this, check.name);
}

void Counters::adopt(const config::Config& now, const config::ReloadPlan& plan) {
  auto before = std::exchange(counters_, {});
  std::vector<std::shared_ptr<const serve::ThingView>> shown;
  for (std::size_t i = 0; i < now.checks.size(); ++i) {
    const config::Check& check = now.checks[i];
    if (!is_counter(check)) continue;
    Kept& kept = counters_[check.name];
    const auto earlier = before.find(check.name);
    if (earlier != before.end() && plan.checks[i].action != config::ReloadAction::kBegun) {
      kept = std::move(earlier->second);
    } else {
      kept.counter = {.of = counted_by(check), .most = most_of(check)};
      kept.shown = not_judged(check, runtime_.now());
    }
    shown.push_back(kept.shown);
  }
  board_.show(judge::toy::kCounterKind, std::move(shown));
}

void Counters::observed(const std::string& check, const Observation& seen) {
  for (auto& [name, kept] : counters_) {
    if (kept.counter.of == check) judge::toy::count(kept.counter, seen.outcome);
  }
}

Observation Counters::judge(const std::string& name) {
  Kept& kept = counters_.at(name);
  Observation observation;
  observation.subject = name;
  observation.begun = observation.ended = runtime_.now();
  auto shown = std::make_shared<serve::toy::CounterView>(name);
  shown->judged = runtime_.now();
  shown->counter = kept.counter;
  shown->assessment = judge::toy::assess(kept.counter, kept.memory, runtime_.now());
  observation.outcome = shown->assessment.outcome;
  if (!shown->assessment.findings.empty())
    observation.reason = {judge::ReasonCode::kState, shown->assessment.findings.front().summary};
  kept.shown = shown;
  board_.judged(shown, runtime_.now());
  return observation;
}

Domains domains_with_counters() {
  static const std::vector<DomainRow> kAll = [] {
    std::vector<DomainRow> all(domains().begin(), domains().end());
    all.push_back({"counters", &serve::toy::kCounterFamily, make<Counters>, Counters::depend});
    return all;
  }();
  return kAll;
}

std::span<const observe::ProbeKind> kinds_with_counters() {
  static const std::vector<observe::ProbeKind> kAll = [] {
    const auto kinds = observe::probe_kinds();
    std::vector<observe::ProbeKind> all(kinds.begin(), kinds.end());
    all.push_back(kKind);
    return all;
  }();
  return kAll;
}

}  // namespace wardmote::agent::toy
