#include "act/repair/executor.h"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <cstddef>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "act/plan/step_executor.h"
#include "act/repair/testimony.h"
#include "base/format.h"
#include "base/result.h"
#include "base/text.h"
#include "base/time.h"
#include "codec/json_rpc.h"
#include "judge/raft/member_id.h"
#include "judge/raft/repair/repair_plan.h"
#include "observe/ovn/rpc_client.h"
#include "runtime/deadline.h"
#include "runtime/process.h"
#include "runtime/task.h"

namespace wardmote::act::repair {

namespace json = boost::json;
using judge::raft::repair::RepairPlan;
using judge::raft::repair::StepKind;
using runtime::Deadline;
using runtime::Task;
using namespace std::chrono_literals;

namespace {

constexpr Duration kKickTimeout = 5s;
constexpr std::size_t kLongestDetail = 400;
constexpr std::size_t kOutputCap = 64 << 10;

/// As `cluster/kick` takes it: the whole id, or the four digits that are all we know.
std::string server_name(const judge::raft::MemberId& id) {
  return id.full() ? to_string(id) : short_name(id);
}

json::value text_or_null(const std::string& text) {
  return text.empty() ? json::value(nullptr) : json::value(text);
}

/// `started removal`, or the server's refusal.
Result<std::string> read_reply(const codec::RpcMessage& reply) {
  const Result<const json::value*> result = codec::result_of(reply);
  if (!result) return std::unexpected(result.error());
  const json::value* text = *result;
  if (const json::object* const wrapped = text->if_object()) text = wrapped->if_contains("reply");
  if (text == nullptr || !text->is_string()) return std::string("it was told");
  const std::string_view said(text->get_string());
  return escape_control(trim(said), kLongestDetail);
}

}  // namespace

std::optional<RepairRequest> RepairRequest::of(const StepRequest& request) {
  const auto moment = [&](const std::string& name) {
    const auto found = request.moment.find(name);
    return found == request.moment.end() ? std::string() : found->second;
  };
  std::optional<RepairPlan> plan = RepairPlan::of(request.plan);
  const std::optional<StepKind> kind = judge::raft::repair::parse_step_kind(request.step);
  if (!plan || !kind) return std::nullopt;
  RepairRequest repair{*std::move(plan), *kind, moment("leader"), {}, {}};
  repair.report_only = request.confirm && *kind == StepKind::kCopyDatabase;
  repair.may_run = moment("may_run") == "true";
  const std::string remotes = moment("remotes");
  for (std::string_view rest = remotes; !rest.empty();)
    repair.remotes.emplace_back(take_until(rest, ' '));
  const std::string cluster_id = moment("cluster_id");
  if (cluster_id.empty()) return repair;
  const auto id = judge::raft::parse_member_id(cluster_id);
  if (!id) return std::nullopt;
  repair.cluster_id = *id;
  return repair;
}

std::string deed_json(const RepairRequest& request) {
  json::object object;
  object["plan"] = request.plan.id;
  object["step"] = request.report_only ? "report" : to_string(request.kind);
  object["cluster"] = request.plan.target.name;
  object["cluster_id"] = text_or_null(to_string(request.cluster_id));
  object["database"] = request.plan.database;
  object["member"] = request.plan.member;
  object["server"] = text_or_null(to_string(request.plan.server));
  object["address"] = text_or_null(request.plan.address);
  object["remotes"] = json::array(request.remotes.begin(), request.remotes.end());
  object["may_run"] = request.may_run;
  return json::serialize(object) + "\n";
}

std::optional<MemberWays> OvnExecutor::find(const std::string& cluster,
                                            const std::string& member) const {
  const auto members = ways_.find(cluster);
  if (members == ways_.end()) return std::nullopt;
  const auto ways = members->second.find(member);
  return ways == members->second.end() ? std::nullopt : std::optional(ways->second);
}

Duration OvnExecutor::patience(const StepRequest& request) const {
  const std::optional<RepairRequest> repair = RepairRequest::of(request);
  if (!repair || repair->kind == StepKind::kKick) return kKickTimeout;
  const std::optional<MemberWays> ways = find(repair->plan.target.name, repair->plan.member);
  return ways ? ways->timeout : kKickTimeout;
}

Task<Result<std::string>> OvnExecutor::act(StepRequest request, Deadline deadline) {
  const TimePoint end = std::min(deadline.at, runtime_.now() + patience(request));
  std::optional<RepairRequest> repair = RepairRequest::of(request);
  if (!repair) co_return fail(Errc::kInvalid, "{} is not understood", request.step);
  if (repair->kind == StepKind::kKick) {
    Result<std::string> kicked = co_await kick(*std::move(repair), Deadline{end});
    co_return kicked;
  }
  const std::optional<MemberWays> ways = find(repair->plan.target.name, repair->plan.member);
  const bool copies = repair->kind == StepKind::kCopyDatabase;
  if (!ways || (copies ? ways->copy : ways->rejoin).empty()) {
    co_return fail(Errc::kInvalid, "{} has no command for it any more", repair->plan.member);
  }
  if (copies) {
    Result<std::string> copied = co_await copy(*std::move(repair), *ways, Deadline{end});
    co_return copied;
  }
  std::string input = deed_json(*repair);
  const Result<std::string> ran = co_await run(ways->rejoin, std::move(input), Deadline{end});
  if (!ran) co_return ran;
  std::string shown = escape_control(*ran, kLongestDetail);
  co_return shown.empty() ? fmt::format("{} ended well", ways->rejoin.front()) : std::move(shown);
}

Task<Result<std::string>> OvnExecutor::copy(RepairRequest request, MemberWays ways,
                                            Deadline deadline) {
  request.report_only = request.report_only && !ways.report.empty();
  std::string input = deed_json(request);
  std::vector<std::string> argv = std::move(request.report_only ? ways.report : ways.copy);
  const Result<std::string> ran = co_await run(std::move(argv), std::move(input), deadline);
  if (!ran) co_return ran;
  co_return check_testimony(request, *ran);
}

Task<Result<std::string>> OvnExecutor::kick(RepairRequest request, Deadline deadline) {
  const std::optional<MemberWays> ways = find(request.plan.target.name, request.leader);
  const std::string server = server_name(request.plan.server);
  if (!ways || (!ways->control && ways->control_command.empty())) {
    co_return fail(Errc::kInvalid, "there is no way to tell {} anything", request.leader);
  }
  if (!ways->control_command.empty()) {
    std::vector<std::string> argv = ways->control_command;
    for (const std::string& word : {std::string("cluster/kick"), request.plan.database, server}) {
      argv.push_back(word);
    }
    const Result<std::string> told = co_await run(std::move(argv), "", deadline);
    if (!told) co_return told;
    co_return escape_control(*told, kLongestDetail);
  }
  observe::ovn::RpcClient client(runtime_, *ways->control, {.fresh_every = 1});
  const std::string params =
      fmt::format("[{},{}]", codec::json_string(request.plan.database), codec::json_string(server));
  client.prepare("cluster/kick", params);
  const Result<void> sent = co_await client.send(deadline);
  if (!sent) co_return with_context(sent, "cluster/kick at {}", request.leader);
  const Result<codec::RpcMessage> reply = co_await client.receive(deadline);
  if (!reply) {
    // It was told, so it may have been done, however the conversation ended.
    co_return fail(Errc::kClosed, "cluster/kick at {}: {}", request.leader,
                   reply.error().describe());
  }
  co_return read_reply(*reply);
}

Task<Result<std::string>> OvnExecutor::run(std::vector<std::string> argv, std::string input,
                                           Deadline deadline) {
  const std::string program = argv.front();
  runtime::ProcessSpec spec{std::move(argv), std::move(input), kOutputCap};
  // A command that starts the member's server and ends, or is ended, leaves it running.
  spec.spares = "ovsdb-server";
  const auto ended = co_await runtime_.processes().run(std::move(spec), deadline);
  if (!ended) co_return with_context(ended, "{}", program);
  if (ended->status == 0) co_return std::string(trim(ended->standard_output));
  co_return fail(Errc::kRejected, "{} ended with {}: {}", program, ended->status,
                 escape_control(trim(ended->standard_error), kLongestDetail));
}

}  // namespace wardmote::act::repair
