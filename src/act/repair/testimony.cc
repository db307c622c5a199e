#include "act/repair/testimony.h"

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <boost/system/error_code.hpp>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>

#include "act/repair/executor.h"
#include "base/format.h"
#include "base/result.h"
#include "base/text.h"
#include "codec/json_keys.h"
#include "judge/raft/member_id.h"
#include "judge/raft/repair/repair_plan.h"

namespace wardmote::act::repair {

namespace json = boost::json;
using judge::raft::MemberId;

namespace {

constexpr std::uint8_t kWholeId = 32;  // digits

constexpr std::size_t kLongestLine = 400;

std::string_view last_line(std::string_view output) {
  const std::string_view whole = trim(output);
  const std::size_t feed = whole.rfind('\n');
  return feed == std::string_view::npos ? whole : trim(whole.substr(feed + 1));
}

/// Not known: null, empty, all zero, as a server has none that has not joined yet.
Result<MemberId> id_in(const json::object& said, std::string_view key) {
  const json::value* const value = said.if_contains(key);
  if (value == nullptr) return fail(Errc::kRejected, "it says no \"{}\"", key);
  if (value->is_null()) return MemberId{};
  if (!value->is_string()) return fail(Errc::kRejected, "\"{}\" is no text", key);
  const std::string_view text(value->get_string());
  if (text.empty()) return MemberId{};
  const std::optional<MemberId> id = judge::raft::parse_member_id(text);
  // Some digits fit many servers.
  if (!id || id->digits < kWholeId) {
    return fail(Errc::kRejected, "\"{}\" is no whole id, as ovsdb-tool db-sid and db-cid print it",
                key);
  }
  return id->zero() ? MemberId{} : *id;
}

Result<void> check_ids(const RepairRequest& request, const json::object& said) {
  const Result<MemberId> server = id_in(said, "server");
  if (!server) return with_context(server, "the copy");
  const Result<MemberId> cluster = id_in(said, "cluster");
  if (!cluster) return with_context(cluster, "the copy");
  const judge::raft::repair::RepairPlan& plan = request.plan;
  const bool known = plan.server.known() || plan.former.known();
  const bool its = compatible(*server, plan.server) || compatible(*server, plan.former);
  if (server->known() && known && !its) {
    return fail(Errc::kRejected, "the file on the host of {} is that of server {}, not of {}",
                plan.member, to_string(*server),
                to_string(plan.server.known() ? plan.server : plan.former));
  }
  if (cluster->known() && request.cluster_id.known() && !compatible(*cluster, request.cluster_id)) {
    return fail(Errc::kRejected,
                "the file on the host of {} is of cluster {}: it may hold what no other has",
                plan.member, short_name(*cluster));
  }
  return {};
}

/// Somebody put the former server back while the other one joined. Who asks for a rebuild by name
/// may mean a server that runs.
bool is_to_be_kicked(const RepairRequest& request, const json::object& said) {
  const Result<MemberId> server = id_in(said, "server");
  return request.plan.code && server && server->known() && request.plan.server.known() &&
         compatible(*server, request.plan.server);
}

bool is_report(std::string_view line) {
  boost::system::error_code error;
  const json::value value = json::parse(line, error);
  const json::object* const object = error ? nullptr : value.if_object();
  return object != nullptr && object->contains("running");
}

/// A loop that tries again prints several reports, of which nobody knows which one holds.
std::optional<std::string> contradiction(std::string_view output) {
  if (const auto key = codec::key_given_twice(last_line(output)))
    return fmt::format("its report says \"{}\" twice", escape_control(*key, kLongestLine));
  std::size_t reports = 0;
  for (std::string_view rest = output; !rest.empty();)
    reports += is_report(trim(take_until(rest, '\n'))) ? 1 : 0;
  if (reports > 1) return fmt::format("it prints {} reports: it must print one", reports);
  return std::nullopt;
}

}  // namespace

Result<std::string> check_testimony(const RepairRequest& request, std::string_view output) {
  std::string line = escape_control(last_line(output), kLongestLine);
  boost::system::error_code error;
  const json::value value = json::parse(last_line(output), error);
  const json::object* const said = error ? nullptr : value.if_object();
  const json::value* const running = said != nullptr ? said->if_contains("running") : nullptr;
  if (running == nullptr || !running->is_bool()) {
    return fail(Errc::kRejected,
                "the command must say as its last line {{\"running\": false, \"server\": ID, "
                "\"cluster\": ID}}, and said: {}",
                line);
  }
  if (auto reason = contradiction(output)) return fail(Errc::kRejected, "{}", *reason);
  if (running->get_bool() && !request.may_run)
    return fail(Errc::kRejected, "its host says that the server of {} runs", request.plan.member);
  if (running->get_bool() && is_to_be_kicked(request, *said)) {
    return fail(Errc::kRejected, "its host says that {} runs, which is to be kicked",
                short_name(request.plan.server));
  }
  if (const Result<void> ids = check_ids(request, *said); !ids) return std::unexpected(ids.error());
  return line;
}

}  // namespace wardmote::act::repair
