#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/text.h"
#include "base/time.h"
#include "config/config.h"
#include "config/problem.h"
#include "config/reader.h"
#include "config/sections.h"
#include "config/yaml.h"
#include "judge/check_machine.h"
#include "observe/kinds.h"

namespace wardmote::config {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kMostMeshes = 64;
constexpr std::size_t kMostMembers = 64;
constexpr std::size_t kMostAddresses = 16;
constexpr Duration kLongestSettle = 1h;
constexpr auto kKinds = std::to_array<std::string_view>({"bird", "frr"});
// What the judge calls a finding has already stood for its window.
constexpr judge::CheckPolicy kPolicy{.fall = 1, .rise = 1};

const Check* find_check(const Config& config, std::string_view name) {
  const auto found = std::ranges::find(config.checks, name, &Check::name);
  return found == config.checks.end() ? nullptr : &*found;
}

/// Only BGP daemons that somebody looks at already can be members.
void check_member(const Mesh& mesh, const Placed<std::string>& name, const Config& config,
                  Problems& problems) {
  const std::string what = fmt::format("check '{}'", escape_control(name.value, 64));
  const Check* const check = find_check(config, name.value);
  if (check == nullptr) {
    std::vector<std::string_view> names;
    for (const Check& one : config.checks) {
      if (std::ranges::find(kKinds, one.kind->name) != kKinds.end()) names.push_back(one.name);
    }
    const auto guess = did_you_mean(name.value, names);
    problems.add(name.at, what, "no check has this name",
                 guess ? fmt::format("did you mean '{}'?", *guess) : "define it under 'checks'");
  } else if (std::ranges::find(kKinds, check->kind->name) == kKinds.end()) {
    problems.add(name.at, what, fmt::format("it is of kind '{}'", check->kind->name),
                 fmt::format("name a check of kind {}", fmt::join(kKinds, " or ")));
  }
  if (std::ranges::find(mesh.members, name.value, &Mesh::Member::check) != mesh.members.end())
    problems.add(name.at, what, "it is a member already", "remove one");
}

Mesh::Member read_member(const YamlNode& node, std::size_t number, const Mesh& mesh,
                         const Config& config, Problems& problems) {
  MapReader map(node, fmt::format("member {}", number), problems);
  Mesh::Member member;
  if (const YamlNode* const check = map.require("check", "check: bird-1")) {
    member.check = read_name(*check, "check", problems).value_or("");
    if (!member.check.empty()) check_member(mesh, {member.check, check->at}, config, problems);
  }
  if (const YamlNode* const addresses = map.find("addresses")) {
    for (Placed<std::string>& text : read_texts(*addresses, "addresses", problems))
      member.addresses.push_back(std::move(text.value));
    if (member.addresses.size() > kMostAddresses)
      problems.add(addresses->at, "addresses", fmt::format("more than {}", kMostAddresses),
                   "name those by which the other daemons call it");
  }
  map.finish();
  return member;
}

void read_members(const YamlNode& list, Mesh& mesh, const Config& config, Problems& problems) {
  const bool fits = list.kind == YamlNode::Kind::kList && list.items.size() >= 2 &&
                    list.items.size() <= kMostMembers;
  if (!fits) {
    problems.add(list.at, "members", fmt::format("not a list of 2 to {} members", kMostMembers),
                 "write '- {check: bird-1}' lines below it");
    return;
  }
  for (const YamlNode& item : list.items)
    mesh.members.push_back(read_member(item, mesh.members.size() + 1, mesh, config, problems));
}

/// Judged as often as the fastest of its members is looked at.
Check check_of(const Mesh& mesh, const Config& config, bool optional, Place at) {
  Check made;
  made.name = mesh.name;
  made.at = at;
  made.kind = &mesh_kind();
  std::vector<std::string> members;
  Duration every = 24h;
  for (const Mesh::Member& member : mesh.members) {
    members.push_back(fmt::format("{}={}", member.check, fmt::join(member.addresses, ",")));
    if (const Check* const check = find_check(config, member.check))
      every = std::min(every, check->schedule.every);
  }
  // So that a reload sees by its check that a mesh is another.
  made.params["members"] = std::move(members);
  made.params["sparse"] = !mesh.expectation.full;
  made.params["settle"] = mesh.expectation.settle;
  made.schedule = {every, every * 9 / 10, kPolicy, optional};
  return made;
}

}  // namespace

const observe::ProbeKind& mesh_kind() noexcept {
  static constexpr observe::ProbeKind kKind{
      "bgp_mesh", "BGP sessions judged from both ends", {}, nullptr, false};
  return kKind;
}

void read_meshes(const YamlNode& list, Config& config, Names& names, Problems& problems) {
  if (list.kind != YamlNode::Kind::kList || list.items.size() > kMostMeshes) {
    problems.add(list.at, "meshes", fmt::format("not a list of at most {} meshes", kMostMeshes),
                 "write '- {name: bgp, members: [{check: bird-1}, {check: bird-2}]}' below it");
    return;
  }
  for (const YamlNode& item : list.items) {
    MapReader map(item, fmt::format("mesh {}", config.meshes.size() + 1), problems);
    Mesh mesh;
    const YamlNode* const name = map.require("name", "name: bgp");
    if (name != nullptr) mesh.name = read_name(*name, "name", problems).value_or("");
    if (const YamlNode* const members = map.require("members", "members: [{check: bird-1}, ...]"))
      read_members(*members, mesh, config, problems);
    mesh.expectation.full = !map.read("sparse", read_flag).value_or(false);
    mesh.expectation.settle =
        map.read_duration_in("settle", 1s, kLongestSettle, mesh.expectation.settle);
    const bool optional = map.read("optional", read_flag).value_or(false);
    map.finish();
    if (mesh.name.empty()) continue;
    config.checks.push_back(check_of(mesh, config, optional, map.at()));
    names.add(config.checks.back().name, name->at, problems);
    config.meshes.push_back(std::move(mesh));
  }
}

}  // namespace wardmote::config
