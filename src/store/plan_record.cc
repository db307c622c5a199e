#include "store/plan_record.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/format.h"
#include "base/result.h"
#include "judge/finding.h"
#include "judge/plan/plan.h"
#include "judge/plan/planner.h"
#include "judge/raft/member_id.h"
#include "store/clock_pair.h"
#include "store/json_fields.h"

namespace wardmote::store {

namespace json = boost::json;
using judge::plan::Pause;
using judge::plan::Plan;
using judge::plan::Step;
using judge::raft::MemberId;

namespace {

std::unexpected<Error> no_plan() {
  return fail(Errc::kProtocol, "a record that is no plan");
}

MemberId id_in(const json::object& object, std::string_view key) {
  const auto text = text_in(object, key);
  if (!text || text->empty()) return {};
  return judge::raft::parse_member_id(*text).value_or(MemberId{});
}

std::optional<Step> step_of(const json::value& value) {
  const json::object* const fields = value.if_object();
  if (fields == nullptr) return std::nullopt;
  const auto kind = judge::plan::parse_step_kind(text_in(*fields, "kind").value_or(""));
  const auto state = judge::plan::parse_step_state(text_in(*fields, "state").value_or(""));
  if (!kind || !state) return std::nullopt;
  return Step{*kind, *state, text_in(*fields, "detail").value_or("")};
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

Result<json::object> parse_record(std::string_view text) {
  boost::system::error_code broken;
  json::value value = json::parse(text, broken);
  if (broken || !value.is_object()) return fail(Errc::kProtocol, "a record that is no object");
  return std::move(value.get_object());
}

}  // namespace

std::string plan_key(std::int64_t id) {
  return fmt::format("{}{}", kPlanPrefix, id);
}

std::string encode(const Plan& plan, const ClockPair& clock) {
  json::object record;
  record["id"] = plan.id;
  record["policy"] = plan.policy;
  record["work"] = to_string(plan.work);
  record["cluster"] = plan.cluster;
  record["database"] = plan.database;
  record["member"] = plan.member;
  record["server"] = to_string(plan.server);
  record["address"] = plan.address;
  record["former"] = to_string(plan.former);
  if (plan.code) record["code"] = to_string(*plan.code);
  record["why"] = plan.why;
  record["incident"] = plan.incident;
  record["proposer"] = plan.proposer;
  record["approver"] = plan.approver;
  record["token"] = plan.token;
  json::array steps;
  for (const Step& step : plan.steps) {
    steps.push_back(json::object{
        {"kind", to_string(step.kind)}, {"state", to_string(step.state)}, {"detail", step.detail}});
  }
  record["steps"] = std::move(steps);
  record["state"] = to_string(plan.state);
  record["reason"] = plan.reason;
  record["created"] = wall_ms(clock.wall(plan.created));
  record["begun"] = wall_ms(clock.wall(plan.begun));
  record["changed"] = wall_ms(clock.wall(plan.changed));
  return json::serialize(record);
}

Result<Plan> decode_plan(std::string_view text, const ClockPair& clock) {
  const Result<json::object> record = parse_record(text);
  if (!record) return std::unexpected(record.error());
  const auto id = integer_in(*record, "id");
  const auto work = judge::plan::parse_work(text_in(*record, "work").value_or(""));
  const auto state = judge::plan::parse_plan_state(text_in(*record, "state").value_or(""));
  auto cluster = text_in(*record, "cluster");
  const auto created = wall_in(*record, "created");
  const auto begun = wall_in(*record, "begun");
  const auto changed = wall_in(*record, "changed");
  const bool whole = id && *id > 0 && work && state && cluster && created && begun && changed;
  Plan plan;
  if (!whole || !read_steps(*record, plan)) return no_plan();
  plan.id = *id;
  plan.policy = text_in(*record, "policy").value_or("");
  plan.work = *work;
  plan.cluster = *std::move(cluster);
  plan.database = text_in(*record, "database").value_or("");
  plan.member = text_in(*record, "member").value_or("");
  plan.server = id_in(*record, "server");
  plan.address = text_in(*record, "address").value_or("");
  plan.former = id_in(*record, "former");
  if (const auto code = text_in(*record, "code")) plan.code = judge::parse_code(*code);
  plan.why = text_in(*record, "why").value_or("");
  plan.incident = integer_in(*record, "incident").value_or(0);
  plan.proposer = text_in(*record, "proposer").value_or("");
  plan.approver = text_in(*record, "approver").value_or("");
  plan.token = integer_in(*record, "token").value_or(0);
  plan.state = *state;
  plan.reason = text_in(*record, "reason").value_or("");
  plan.created = clock.past(*created);
  plan.begun = clock.past(*begun);
  plan.changed = clock.past(*changed);
  return plan;
}

std::string pause_key(std::string_view scope) {
  return fmt::format("{}{}", kPausePrefix, scope);
}

std::string encode(const Pause& pause, const ClockPair& clock) {
  json::object record;
  record["scope"] = pause.scope;
  record["by"] = pause.by;
  if (pause.until) record["until"] = wall_ms(clock.wall(*pause.until));
  return json::serialize(record);
}

Result<Pause> decode_pause(std::string_view text, const ClockPair& clock) {
  const Result<json::object> record = parse_record(text);
  if (!record) return std::unexpected(record.error());
  auto scope = text_in(*record, "scope");
  if (!scope) return fail(Errc::kProtocol, "a record that is no pause");
  Pause pause{*std::move(scope), text_in(*record, "by").value_or(""), std::nullopt};
  if (const auto until = wall_in(*record, "until")) pause.until = clock.boot(*until);
  return pause;
}

}  // namespace wardmote::store
