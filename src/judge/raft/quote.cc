#include "judge/raft/quote.h"

#include <algorithm>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/format.h"
#include "judge/finding.h"
#include "judge/outcome.h"
#include "judge/raft/cluster_snapshot.h"
#include "judge/raft/dialect.h"
#include "judge/raft/member_id.h"
#include "judge/raft/opinion.h"

namespace wardmote::judge::raft {
namespace {

std::vector<std::string> without_unknown(std::string name, std::string id,
                                         std::string_view address) {
  std::vector<std::string> known;
  for (std::string each : {std::move(name), std::move(id), std::string(address)}) {
    if (!each.empty() && std::ranges::find(known, each) == known.end())
      known.push_back(std::move(each));
  }
  return known;
}

}  // namespace

Evidence testify(const Member& member, std::initializer_list<Line> lines) {
  if (member.status())
    return {member.name(), member.dialect().status(*member.status(), std::span(lines))};
  if (member.opinion->local) return {member.name(), quote(*member.opinion->local)};
  return {member.name(), describe(member.opinion->silence())};
}

Evidence testify(const Member& member, const Server& line) {
  return {member.name(), member.dialect().server(line)};
}

Evidence testify_list(const Member& member) {
  return {member.name(), member.dialect().list(*member.status())};
}

std::vector<Evidence> testify(const ClusterSnapshot& snapshot, const ListedServer& listed) {
  if (listed.at_leader) return {testify(*snapshot.leader, *listed.at_leader)};
  if (listed.line) return {testify(*snapshot.newest, *listed.line)};
  return {};
}

std::vector<std::string> names(const Member& member) {
  return without_unknown(member.name(), member.dialect().id(member.id), member.address);
}

std::vector<std::string> names(const ListedServer& listed) {
  const Member* const member = listed.reporter ? listed.reporter : listed.owner;
  return without_unknown(member ? member->name() : "", listed.dialect->id(listed.id),
                         listed.address);
}

std::string label(const Member& member) {
  if (!member.id.known()) return member.name();
  return fmt::format("{} ({})", member.name(), member.dialect().short_id(member.id));
}

std::string label(const ListedServer& listed) {
  return listed.id.known() ? listed.dialect->short_id(listed.id) : std::string(listed.nickname);
}

std::string key_of(const ListedServer& listed) {
  return listed.id.known() ? short_name(listed.id) : std::string(listed.nickname);
}

std::string describe(const Reason& reason) {
  if (reason.text.empty()) return std::string(to_string(reason.code));
  return fmt::format("{}: {}", to_string(reason.code), reason.text);
}

}  // namespace wardmote::judge::raft
