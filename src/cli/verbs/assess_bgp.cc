#include <boost/json/value.hpp>
#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/format.h"
#include "base/result.h"
#include "base/text.h"
#include "base/time.h"
#include "cli/command.h"
#include "cli/exit_code.h"
#include "cli/format.h"
#include "cli/mesh_json.h"
#include "cli/output.h"
#include "cli/render/mesh.h"
#include "cli/session.h"
#include "cli/verbs/verbs.h"
#include "judge/bgp/facts.h"
#include "judge/bgp/mesh.h"
#include "judge/observation.h"
#include "judge/outcome.h"
#include "observe/bird/bird_probe.h"
#include "observe/frr/frr_probe.h"
#include "observe/kinds.h"
#include "observe/probe.h"
#include "runtime/deadline.h"
#include "runtime/runtime.h"
#include "runtime/task.h"
#include "runtime/task_group.h"

namespace wardmote::cli {
namespace {

using judge::bgp::MeshView;
using runtime::Deadline;
using runtime::Runtime;
using runtime::Task;

constexpr Duration kTimeout = std::chrono::seconds(2);
constexpr std::size_t kMostMembers = 256;

/// One daemon to ask, and the addresses by which others may know it.
struct Member {
  std::unique_ptr<observe::Probe> probe;
  MeshView view;
};

/// `NAME=SOCKET[,ADDRESS…]`; a socket that ends in .vty is FRR's.
Result<Member> read_member(Runtime& runtime, std::string_view text) {
  std::string_view rest = text;
  const std::string_view name = take_until(rest, '=');
  const std::string socket(take_until(rest, ','));
  if (name.empty() || socket.empty())
    return fail(Errc::kInvalid, "--member '{}': write NAME=SOCKET[,ADDRESS]", text);
  Member member;
  member.view.name = name;
  while (!rest.empty()) member.view.addresses.emplace_back(take_until(rest, ','));
  const observe::Params params{{"socket", socket}};
  auto probe = socket.ends_with(".vty")
                   ? observe::frr::make_frr_probe(runtime, member.view.name, params)
                   : observe::bird::make_bird_probe(runtime, member.view.name, params);
  if (!probe) return with_context(probe, "--member {}", name);
  member.probe = *std::move(probe);
  return member;
}

Task<void> look(Member* member, Deadline deadline) {
  judge::Observation seen = co_await member->probe->look(deadline);
  member->view.reason = std::move(seen.reason);
  if (auto* const facts = std::get_if<judge::bgp::BgpFacts>(&seen.facts))
    member->view.facts = std::move(*facts);
  member->view.unsure = !member->view.facts && seen.outcome != judge::Outcome::kFail;
}

Task<Exit> assess(const Call* call, Runtime* runtime, std::vector<Member>* members,
                  Deadline deadline) {
  std::vector<Task<void>> looks;
  for (Member& member : *members) looks.push_back(look(&member, deadline));
  co_await runtime::run_all(runtime->executor(), std::move(looks));
  std::vector<MeshView> views;
  for (Member& member : *members) views.push_back(std::move(member.view));
  const judge::bgp::Mesh mesh = judge::bgp::assess_mesh(views, {.full = !call->has("sparse")});
  const boost::json::value shown = to_json(mesh, views);
  const Format format = format_of(*call);
  print(for_programs(format) ? written(format, shown) : draw_mesh(shown, style_for(*call)));
  co_return exit_of_verdict(to_string(mesh.outcome));
}

}  // namespace

Exit run_assess_bgp(const Call& call) {
  const Result<Duration> timeout = call.duration("timeout", kTimeout);
  if (!timeout) return complain(call, Exit::kUsage, timeout.error().context);
  Session session;
  std::vector<Member> members;
  for (const std::string& text : call.values("member")) {
    if (members.size() == kMostMembers)
      return complain(call, Exit::kUsage, fmt::format("more than {} members", kMostMembers));
    Result<Member> member = read_member(session.runtime(), text);
    if (!member) return complain(call, Exit::kUsage, member.error().context);
    members.push_back(*std::move(member));
  }
  return session.run(
      assess(&call, &session.runtime(), &members, session.runtime().deadline_in(*timeout)));
}

}  // namespace wardmote::cli
