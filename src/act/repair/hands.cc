#include "act/repair/hands.h"

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

#include "base/format.h"
#include "base/result.h"
#include "base/text.h"
#include "base/time.h"
#include "codec/json_rpc.h"
#include "judge/plan/plan.h"
#include "judge/raft/member_id.h"
#include "observe/ovn/rpc_client.h"
#include "runtime/deadline.h"
#include "runtime/process.h"
#include "runtime/task.h"

namespace wardmote::act::repair {

namespace json = boost::json;
using judge::plan::StepKind;
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

std::string deed_json(const Deed& deed) {
  json::object object;
  object["plan"] = deed.plan.id;
  object["step"] = to_string(deed.kind);
  object["cluster"] = deed.plan.cluster;
  object["database"] = deed.plan.database;
  object["member"] = deed.plan.member;
  object["server"] = text_or_null(to_string(deed.plan.server));
  object["address"] = text_or_null(deed.plan.address);
  object["remotes"] = json::array(deed.remotes.begin(), deed.remotes.end());
  return json::serialize(object) + "\n";
}

std::optional<MemberWays> OvnHands::find(const std::string& cluster,
                                         const std::string& member) const {
  const auto members = ways_.find(cluster);
  if (members == ways_.end()) return std::nullopt;
  const auto ways = members->second.find(member);
  return ways == members->second.end() ? std::nullopt : std::optional(ways->second);
}

Task<Result<std::string>> OvnHands::act(Deed deed) {
  if (deed.kind == StepKind::kKick) {
    Result<std::string> kicked = co_await kick(std::move(deed));
    co_return kicked;
  }
  const std::optional<MemberWays> ways = find(deed.plan.cluster, deed.plan.member);
  const bool copies = deed.kind == StepKind::kCopyDatabase;
  std::vector<std::string> argv;
  if (ways) argv = copies ? ways->copy : ways->rejoin;
  if (argv.empty()) {
    co_return fail(Errc::kInvalid, "{} has no command for it any more", deed.plan.member);
  }
  std::string input = deed_json(deed);
  Result<std::string> ran = co_await run(std::move(argv), std::move(input), ways->timeout);
  co_return ran;
}

Task<Result<std::string>> OvnHands::kick(Deed deed) {
  const std::optional<MemberWays> ways = find(deed.plan.cluster, deed.leader);
  const std::string server = server_name(deed.plan.server);
  if (!ways || (!ways->control && ways->control_command.empty())) {
    co_return fail(Errc::kInvalid, "there is no way to tell {} anything", deed.leader);
  }
  if (!ways->control_command.empty()) {
    std::vector<std::string> argv = ways->control_command;
    for (const std::string& word : {std::string("cluster/kick"), deed.plan.database, server}) {
      argv.push_back(word);
    }
    Result<std::string> told = co_await run(std::move(argv), "", kKickTimeout);
    co_return told;
  }
  const Deadline deadline = runtime_.deadline_in(kKickTimeout);
  observe::ovn::RpcClient client(runtime_, *ways->control, {.fresh_every = 1});
  const std::string params =
      fmt::format("[{},{}]", codec::json_string(deed.plan.database), codec::json_string(server));
  client.prepare("cluster/kick", params);
  const Result<void> sent = co_await client.send(deadline);
  if (!sent) co_return with_context(sent, "cluster/kick at {}", deed.leader);
  const Result<codec::RpcMessage> reply = co_await client.receive(deadline);
  if (!reply) co_return with_context(reply, "cluster/kick at {}", deed.leader);
  co_return read_reply(*reply);
}

Task<Result<std::string>> OvnHands::run(std::vector<std::string> argv, std::string input,
                                        Duration timeout) {
  const std::string program = argv.front();
  runtime::ProcessSpec spec{std::move(argv), std::move(input), kOutputCap};
  const Deadline deadline = runtime_.deadline_in(timeout);
  const auto ended = co_await runtime_.processes().run(std::move(spec), deadline);
  if (!ended) co_return with_context(ended, "{}", program);
  const std::string_view said =
      trim(ended->status == 0 ? ended->standard_output : ended->standard_error);
  const std::string shown = escape_control(said, kLongestDetail);
  if (ended->status == 0) co_return shown.empty() ? fmt::format("{} ended well", program) : shown;
  co_return fail(Errc::kRejected, "{} ended with {}: {}", program, ended->status, shown);
}

}  // namespace wardmote::act::repair
