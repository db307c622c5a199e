#include "store/plan_record.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <cstdint>
#include <expected>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/epoch_ms.h"
#include "base/format.h"
#include "base/result.h"
#include "base/time.h"
#include "judge/finding.h"
#include "judge/journal_entry.h"
#include "judge/plan/plan.h"
#include "judge/plan/planner.h"
#include "judge/remedies.h"
#include "judge/thing.h"
#include "store/clock_pair.h"
#include "store/json_fields.h"
#include "store/shared_end.h"

namespace wardmote::store {

namespace json = boost::json;
using judge::plan::Pause;
using judge::plan::Plan;
using judge::plan::Step;

namespace {

std::unexpected<Error> no_plan() {
  return fail(Errc::kProtocol, "a record that is not a plan");
}

/// The target of a plan with this remedy. Nothing: it is not known, or it is for things of another
/// kind.
std::optional<judge::ThingId> target_in(const json::object& record, std::string_view remedy) {
  const judge::RemedyInfo* const info = judge::find_remedy(remedy);
  const json::value* const value = record.if_contains("target");
  const json::object* const fields = value == nullptr ? nullptr : value->if_object();
  if (fields == nullptr || info == nullptr) return std::nullopt;
  auto name = text_in(*fields, "name");
  if (!name || text_in(*fields, "kind") != to_string(info->target)) return std::nullopt;
  return judge::ThingId{info->target, *std::move(name)};
}

/// All or nothing: without an argument a plan would be about something else.
std::optional<std::map<std::string, std::string>> args_in(const json::object& record) {
  const json::value* const value = record.if_contains("args");
  const json::object* const fields = value == nullptr ? nullptr : value->if_object();
  if (fields == nullptr) return std::nullopt;
  std::map<std::string, std::string> args;
  for (const auto& field : *fields) {
    if (!field.value().is_string()) return std::nullopt;
    args[field.key()] = field.value().get_string();
  }
  return args;
}

std::optional<Step> step_of(const json::value& value) {
  const json::object* const fields = value.if_object();
  if (fields == nullptr) return std::nullopt;
  auto name = text_in(*fields, "step");
  const auto impact = judge::plan::parse_impact(text_in(*fields, "impact").value_or(""));
  const auto state = judge::plan::parse_step_state(text_in(*fields, "state").value_or(""));
  if (!name || name->empty() || !impact || !state) return std::nullopt;
  return Step{*std::move(name),
              *impact,
              *state,
              text_in(*fields, "detail").value_or(""),
              integer_in(*fields, "tries").value_or(0),
              std::nullopt,
              text_in(*fields, "sign_of_life").value_or(""),
              text_in(*fields, "seen_as").value_or("")};
}

/// All or nothing: a plan that lost a step would do the wrong thing.
bool read_steps(const json::object& record, Plan& plan) {
  const json::value* const steps = record.if_contains("steps");
  if (steps == nullptr || !steps->is_array() || steps->get_array().empty()) return false;
  for (const json::value& value : steps->get_array()) {
    auto step = step_of(value);
    if (!step) return false;
    plan.steps.push_back(*std::move(step));
  }
  return true;
}

}  // namespace

std::string plan_key(std::int64_t id) {
  return fmt::format("{}{}", kPlanPrefix, id);
}

std::string encode(const Plan& plan, const ClockPair& clock) {
  json::object record;
  record["id"] = plan.id;
  record["policy"] = plan.policy;
  record["target"] =
      json::object{{"kind", to_string(plan.target.kind)}, {"name", plan.target.name}};
  record["remedy"] = plan.remedy;
  record["subject"] = plan.subject;
  record["summary"] = plan.summary;
  json::object args;
  for (const auto& [name, value] : plan.args) args[name] = value;
  record["args"] = std::move(args);
  if (plan.code) record["code"] = to_string(*plan.code);
  record["why"] = plan.why;
  record["incident"] = plan.incident;
  record["proposer"] = plan.proposer;
  record["approver"] = plan.approver;
  record["token"] = plan.token;
  json::array steps;
  for (const Step& step : plan.steps) {
    steps.push_back(json::object{{"step", step.name},
                                 {"impact", to_string(step.impact)},
                                 {"state", to_string(step.state)},
                                 {"detail", step.detail},
                                 {"tries", step.tries},
                                 {"sign_of_life", step.sign_of_life},
                                 {"seen_as", step.seen_as}});
  }
  record["steps"] = std::move(steps);
  record["state"] = to_string(plan.state);
  record["reason"] = plan.reason;
  record["lifted"] = plan.lifted;
  record["created"] = epoch_ms(clock.wall(plan.created));
  record["begun"] = epoch_ms(clock.wall(plan.begun));
  record["changed"] = epoch_ms(clock.wall(plan.changed));
  return json::serialize(record);
}

Result<Plan> decode_plan(std::string_view text, const ClockPair& clock) {
  const Result<json::object> record = parse_record(text);
  if (!record) return std::unexpected(record.error());
  const auto id = integer_in(*record, "id");
  auto remedy = text_in(*record, "remedy");
  auto target = target_in(*record, remedy.value_or(""));
  auto args = args_in(*record);
  const auto state = judge::plan::parse_plan_state(text_in(*record, "state").value_or(""));
  const auto created = wall_in(*record, "created");
  const auto begun = wall_in(*record, "begun");
  const auto changed = wall_in(*record, "changed");
  const bool dated = created && begun && changed;
  const bool whole = id && *id > 0 && target && remedy && args && state && dated;
  Plan plan;
  if (!whole || !read_steps(*record, plan)) return no_plan();
  plan.id = *id;
  plan.policy = text_in(*record, "policy").value_or("");
  plan.target = *std::move(target);
  plan.remedy = *std::move(remedy);
  plan.subject = text_in(*record, "subject").value_or("");
  plan.summary = text_in(*record, "summary").value_or("");
  plan.args = *std::move(args);
  if (const auto code = text_in(*record, "code")) plan.code = judge::parse_code(*code);
  plan.why = text_in(*record, "why").value_or("");
  plan.incident = integer_in(*record, "incident").value_or(0);
  plan.proposer = text_in(*record, "proposer").value_or("");
  plan.approver = text_in(*record, "approver").value_or("");
  plan.token = integer_in(*record, "token").value_or(0);
  plan.state = *state;
  plan.reason = text_in(*record, "reason").value_or("");
  plan.lifted = flag_in(*record, "lifted");
  plan.created = clock.past(*created);
  plan.begun = clock.past(*begun);
  plan.changed = clock.past(*changed);
  return plan;
}

std::string newest_row_key(std::string_view journal) {
  return fmt::format("acts/row/{}", journal);
}

std::string encode(const judge::JournalEntry& entry) {
  return json::serialize(json::object{{"at", epoch_ms(entry.at)},
                                      {"kind", entry.kind},
                                      {"plan", entry.plan},
                                      {"step", entry.step},
                                      {"cluster", entry.cluster},
                                      {"subject", entry.subject},
                                      {"actor", entry.actor},
                                      {"incident", entry.incident},
                                      {"token", entry.token},
                                      {"detail", entry.detail}});
}

Result<judge::JournalEntry> decode_row(std::string_view text) {
  const Result<json::object> record = parse_record(text);
  if (!record) return std::unexpected(record.error());
  const auto at = wall_in(*record, "at");
  auto kind = text_in(*record, "kind");
  if (!at || !kind) return fail(Errc::kProtocol, "a record that is no row");
  judge::JournalEntry entry{.at = *at, .kind = *std::move(kind)};
  entry.plan = integer_in(*record, "plan").value_or(0);
  entry.step = text_in(*record, "step").value_or("");
  entry.cluster = text_in(*record, "cluster").value_or("");
  entry.subject = text_in(*record, "subject").value_or("");
  entry.actor = text_in(*record, "actor").value_or("");
  entry.incident = integer_in(*record, "incident").value_or(0);
  entry.token = integer_in(*record, "token").value_or(0);
  entry.detail = text_in(*record, "detail").value_or("");
  return entry;
}

std::string pause_key(std::string_view scope) {
  return fmt::format("{}{}", kPausePrefix, scope);
}

std::string encode(const Pause& pause, const ClockPair& clock) {
  json::object record;
  record["scope"] = pause.scope;
  record["by"] = pause.by;
  if (!pause.identities.empty())
    record["identities"] = json::array(pause.identities.begin(), pause.identities.end());
  if (pause.until) put_end(record, *pause.until, clock);
  return json::serialize(record);
}

Result<Pause> decode_pause(std::string_view text, const ClockPair& clock) {
  const Result<json::object> record = parse_record(text);
  if (!record) return std::unexpected(record.error());
  auto scope = text_in(*record, "scope");
  if (!scope) return fail(Errc::kProtocol, "a record that is not a pause");
  Pause pause{*std::move(scope), text_in(*record, "by").value_or(""), std::nullopt,
              texts_in(*record, "identities")};
  // An earlier version has written it.
  if (auto identity = text_in(*record, "identity"))
    pause.identities.push_back(*std::move(identity));
  pause.until = end_in(*record, clock);
  return pause;
}

}  // namespace wardmote::store
