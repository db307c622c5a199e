#include "config/import/nagios_groups.h"

#include <algorithm>
#include <cstddef>
#include <set>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/text.h"
#include "config/import/nagios_templates.h"

namespace wardmote::config {
namespace {

constexpr std::size_t kMostNames = 2'000'000;
constexpr int kDeepestGroups = 32;

/// The names between commas.
std::vector<std::string_view> names_of(std::string_view list) {
  std::vector<std::string_view> names;
  while (!list.empty()) {
    const std::string_view name = trim(take_until(list, ','));
    if (!name.empty()) names.push_back(name);
  }
  return names;
}

}  // namespace

NagiosHosts::NagiosHosts(std::span<const NagiosThing> things) {
  for (const NagiosThing& thing : things) {
    if (!thing.registered) continue;
    if (thing.type == "hostgroup") groups_.emplace(thing.get("hostgroup_name"), &thing);
    if (thing.type != "host" || thing.get("host_name").empty()) continue;
    if (!hosts_.emplace(thing.get("host_name"), &thing).second) continue;
    all_.push_back(&thing);
    for (const std::string_view group : names_of(thing.get("hostgroups")))
      of_hosts_[group].push_back(thing.get("host_name"));
  }
}

const NagiosThing* NagiosHosts::find(std::string_view name) const {
  const auto found = hosts_.find(name);
  return found == hosts_.end() ? nullptr : found->second;
}

void NagiosHosts::add_all(Set& into) {
  looked_at_ += all_.size();
  for (const NagiosThing* const host : all_) into.insert(host->get("host_name"));
}

void NagiosHosts::add_group(std::string_view group, Set& into, Set& seen) {
  std::vector<std::string_view> waiting{group};
  while (!waiting.empty()) {
    const std::string_view one = waiting.back();
    waiting.pop_back();
    if (!seen.insert(one).second) continue;
    if (const auto named = of_hosts_.find(one); named != of_hosts_.end()) {
      looked_at_ += named->second.size();
      into.insert(named->second.begin(), named->second.end());
    }
    const auto found = groups_.find(one);
    if (found == groups_.end()) continue;
    for (const std::string_view name : names_of(found->second->get("members"))) {
      ++looked_at_;
      if (name == "*") {
        add_all(into);
      } else {
        into.insert(name);
      }
    }
    if (looked_at_ > kMostNames) return;
    const auto more = names_of(found->second->get("hostgroup_members"));
    waiting.insert(waiting.end(), more.begin(), more.end());
  }
}

void NagiosHosts::add_groups(std::string_view list, Set& into, Set& without) {
  Set seen;
  Set seen_without;
  for (std::string_view name : names_of(list)) {
    const bool no = consume_prefix(name, "!");
    if (name == "*" && !no) {
      for (const auto& [group, thing] : groups_) add_group(group, into, seen);
    } else {
      add_group(name, no ? without : into, no ? seen_without : seen);
    }
  }
}

Result<std::vector<const NagiosThing*>> NagiosHosts::of_service(const NagiosThing& service) {
  Set wanted;
  Set without;
  add_groups(service.get("hostgroup_name"), wanted, without);
  for (std::string_view name : names_of(service.get("host_name"))) {
    const bool no = consume_prefix(name, "!");
    ++looked_at_;
    if (name == "*" && !no) {
      add_all(wanted);
    } else {
      (no ? without : wanted).insert(name);
    }
  }
  if (looked_at_ > kMostNames)
    return fail(Errc::kLimit, "the lists of hosts and groups name more than {} hosts", kMostNames);
  std::vector<const NagiosThing*> hosts;
  for (const std::string_view name : wanted) {
    if (without.contains(name)) continue;
    if (const NagiosThing* const host = find(name)) hosts.push_back(host);
  }
  return hosts;
}

namespace {

using ContactNames = std::set<std::string_view>;

void add_names(std::string_view list, ContactNames& into) {
  for (const std::string_view name : names_of(list)) into.insert(name);
}

/// The members of the groups into `names`, and their groups into `groups`; whether one is new.
bool add_members(std::span<const NagiosThing> things, ContactNames& groups, ContactNames& names) {
  const std::size_t before = groups.size();
  for (const NagiosThing& thing : things) {
    if (thing.type != "contactgroup" || !groups.contains(thing.get("contactgroup_name"))) continue;
    add_names(thing.get("members"), names);
    add_names(thing.get("contactgroup_members"), groups);
  }
  return groups.size() > before;
}

bool is_used(const NagiosThing& contact, const ContactNames& groups, const ContactNames& names) {
  if (names.contains(contact.get("contact_name")) || names.contains("*")) return true;
  return std::ranges::any_of(names_of(contact.get("contactgroups")),
                             [&](std::string_view group) { return groups.contains(group); });
}

}  // namespace

std::vector<const NagiosThing*> used_contacts(std::span<const NagiosThing> things) {
  ContactNames groups;
  ContactNames names;
  for (const NagiosThing& thing : things) {
    if (!thing.registered || (thing.type != "host" && thing.type != "service")) continue;
    add_names(thing.get("contacts"), names);
    add_names(thing.get("contact_groups"), groups);
  }
  // A group may have groups; each round adds one level.
  for (int round = 0; round < kDeepestGroups && add_members(things, groups, names);) ++round;
  std::vector<const NagiosThing*> contacts;
  for (const NagiosThing& thing : things) {
    if (thing.type == "contact" && thing.registered && is_used(thing, groups, names))
      contacts.push_back(&thing);
  }
  return contacts;
}

}  // namespace wardmote::config
