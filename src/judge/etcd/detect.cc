#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/text.h"
#include "judge/condition/condition.h"
#include "judge/etcd/cluster.h"
#include "judge/etcd/member_facts.h"
#include "judge/finding.h"

namespace wardmote::judge::etcd {
namespace {

using enum Code;

constexpr double kNearQuota = 0.8;
constexpr double kAtQuota = 0.95;

std::string megabytes(std::int64_t bytes) {
  return fmt::format("{:.1f} MiB", static_cast<double>(bytes) / (1 << 20));
}

/// The member of this id as the configuration, or a list, calls it.
std::string name_of(std::span<const MemberView> views, std::uint64_t id) {
  for (const MemberView& view : views) {
    if (view.facts && view.facts->member_id == id) return view.name;
  }
  for (const MemberView& view : views) {
    if (!view.facts) continue;
    for (const ListedMember& member : view.facts->members) {
      if (member.id == id && !member.name.empty()) return member.name;
    }
  }
  return id_text(id);
}

void add_alarms(std::span<const MemberView> views, Conditions& out) {
  std::map<std::pair<AlarmKind, std::uint64_t>, std::vector<const MemberView*>> standing;
  for (const MemberView& view : views) {
    if (!view.facts) continue;
    for (const Alarm& alarm : view.facts->alarms) {
      if (alarm.kind != AlarmKind::kOther) standing[{alarm.kind, alarm.member}].push_back(&view);
    }
  }
  for (const auto& [alarm, witnesses] : standing) {
    const bool full = alarm.first == AlarmKind::kNospace;
    const std::string name = name_of(views, alarm.second);
    Condition found = condition(full ? kEtcdNospace : kEtcdCorrupt, id_text(alarm.second),
                                witnesses.front()->begun);
    found.finding.subjects = {name, id_text(alarm.second)};
    found.finding.summary =
        full ? fmt::format("{} has raised the alarm NOSPACE: the cluster takes no writes", name)
             : fmt::format("{} has raised the alarm CORRUPT: its data differs", name);
    for (const MemberView* view : witnesses) {
      found.finding.evidence.push_back(
          {view->name,
           fmt::format("memberID:{} alarm:{}", alarm.second, full ? "NOSPACE" : "CORRUPT")});
    }
    out.push_back(std::move(found));
  }
}

void add_quota(const MemberView& view, const Expectation& expectation, Conditions& out) {
  const MemberFacts& facts = *view.facts;
  const std::optional<double> share = share_of_quota(facts, expectation.quota);
  if (!share || *share < kNearQuota) return;
  Condition found = condition(kEtcdQuota, view.name, view.begun);
  if (*share >= kAtQuota) found.finding.severity = Severity::kCritical;
  found.finding.subjects = {view.name, id_text(facts.member_id)};
  found.finding.summary =
      fmt::format("the database of {} has {:.0f} % of its quota", view.name, *share * 100);
  found.finding.evidence = {{view.name, fmt::format("DBSize: {}; DBSizeInUse: {}", facts.db_bytes,
                                                    facts.db_bytes_in_use)}};
  const std::int64_t unused = facts.db_bytes - facts.db_bytes_in_use;
  if (unused * 2 > facts.db_bytes) {
    found.finding.advice = Advice{
        .text = fmt::format("Defragment {}: {} of its database are not in use. It answers nobody "
                            "meanwhile, so do one member after the other.",
                            view.name, megabytes(unused)),
        .command = {},
        .run_on = {}};
  }
  out.push_back(std::move(found));
}

/// The list of the member that knows most, so that the lists of members that lag behind begin
/// nothing.
const MemberView* best_informed(std::span<const MemberView> views) {
  const MemberView* best = nullptr;
  for (const MemberView& view : views) {
    if (!view.facts || view.facts->members.empty()) continue;
    const auto rank = [](const MemberView& v) {
      return std::pair(v.facts->leader != 0, v.facts->applied);
    };
    if (best == nullptr || rank(view) > rank(*best)) best = &view;
  }
  return best;
}

Condition about(Code code, const ListedMember& listed, const MemberView& by) {
  Condition found = condition(code, id_text(listed.id), by.begun);
  if (!listed.name.empty()) found.finding.subjects.push_back(listed.name);
  found.finding.subjects.push_back(id_text(listed.id));
  for (const std::string& url : listed.peer_urls) found.finding.subjects.push_back(url);
  found.finding.evidence = {
      {by.name, fmt::format("{}: name '{}', peer URLs {}, learner {}", id_text(listed.id),
                            listed.name, fmt::join(listed.peer_urls, " "), listed.learner)}};
  return found;
}

void add_listed(std::span<const MemberView> views, Conditions& out) {
  const MemberView* const best = best_informed(views);
  if (best == nullptr) return;
  // A member that does not answer may be any of those that nobody answers as.
  const bool all_answer = std::ranges::all_of(views, [](const MemberView& v) { return !!v.facts; });
  std::set<std::uint64_t> answer;
  for (const MemberView& view : views) {
    if (view.facts) answer.insert(view.facts->member_id);
  }
  for (const ListedMember& listed : best->facts->members) {
    const std::string name = listed.name.empty() ? id_text(listed.id) : listed.name;
    if (listed.learner) {
      Condition found = about(kEtcdLearner, listed, *best);
      found.finding.summary = fmt::format("{} is a learner: it does not vote", name);
      out.push_back(std::move(found));
    }
    if (listed.name.empty()) {
      Condition found = about(kEtcdUnstartedMember, listed, *best);
      found.finding.summary =
          fmt::format("{} at {} was added and has not joined yet", name,
                      listed.peer_urls.empty() ? std::string("?") : listed.peer_urls.front());
      out.push_back(std::move(found));
    } else if (!answer.contains(listed.id)) {
      if (!all_answer) {
        out.push_back(uncertain(kEtcdUnwatchedMember, id_text(listed.id)));
        continue;
      }
      Condition found = about(kEtcdUnwatchedMember, listed, *best);
      found.finding.summary = fmt::format(
          "{} is a member of the cluster, and the configuration does not name it", name);
      out.push_back(std::move(found));
    }
  }
}

/// `3.4.23`: 3 and 4.
std::optional<std::pair<int, int>> minor_of(std::string_view version) {
  const auto major = parse_number<int>(take_until(version, '.'));
  const auto minor = parse_number<int>(take_until(version, '.'));
  if (!major || !minor) return std::nullopt;
  return std::pair(*major, *minor);
}

void add_skew(std::span<const MemberView> views, Conditions& out) {
  std::map<std::string, std::vector<const MemberView*>> versions;
  std::optional<std::pair<int, int>> least;
  std::optional<std::pair<int, int>> most;
  for (const MemberView& view : views) {
    if (!view.facts || view.facts->version.empty()) continue;
    versions[view.facts->version].push_back(&view);
    const auto minor = minor_of(view.facts->version);
    if (!minor) continue;
    least = least ? std::min(*least, *minor) : *minor;
    most = most ? std::max(*most, *minor) : *minor;
  }
  if (versions.size() < 2) return;
  Condition found = condition(kEtcdVersionSkew, "", versions.begin()->second.front()->begun);
  const bool apart = least && (most->first != least->first || most->second > least->second + 1);
  if (apart) {
    found.finding.severity = Severity::kWarning;
    found.window = {.fixed = std::chrono::seconds(10)};
  }
  std::vector<std::string> said;
  for (const auto& [version, of] : versions) {
    said.push_back(version);
    for (const MemberView* view : of) {
      found.finding.subjects.push_back(view->name);
      found.finding.evidence.push_back({view->name, "Version: " + version});
    }
  }
  found.finding.summary = fmt::format("the members run etcd {}{}", fmt::join(said, " and "),
                                      apart ? ", which must not run together" : "");
  out.push_back(std::move(found));
}

}  // namespace

std::optional<double> share_of_quota(const MemberFacts& facts, std::optional<std::uint64_t> quota) {
  double bytes = 0;
  if (quota) bytes = static_cast<double>(*quota);
  if (facts.quota_bytes && *facts.quota_bytes > 0) bytes = static_cast<double>(*facts.quota_bytes);
  if (bytes <= 0) return std::nullopt;
  return static_cast<double>(facts.db_bytes) / bytes;
}

Conditions detect(std::span<const MemberView> views, const Expectation& expectation) {
  Conditions found;
  add_alarms(views, found);
  for (const MemberView& view : views) {
    if (view.facts) add_quota(view, expectation, found);
  }
  add_listed(views, found);
  add_skew(views, found);
  return found;
}

}  // namespace wardmote::judge::etcd
