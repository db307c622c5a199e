#include "judge/version_gate/entry.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/format.h"
#include "judge/version_gate/membership.h"
#include "judge/version_gate/release.h"
#include "judge/version_gate/status.h"

namespace wardmote::judge::version_gate {
namespace {

struct Finds {
  const Stored& stored;
  const Product& own;
  bool acted;
};

/// The first row that applies. Where nodes are checked, the transaction is bound to the nodes that
/// were checked.
// NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding): a row is read from left to right
struct Row {
  Case which;
  bool (*applies)(const Finds& finds);
  bool check_nodes;
  bool wait;
};

// Without a check of the nodes, kSame and kCompatible are safe because the status has closed the
// gate to all nodes older than its minimum since it was written.
constexpr Row kRows[] = {
    {Case::kFirst,
     [](const Finds& f) { return f.stored.kind == Stored::Kind::kAbsent && !f.acted; },
     /*check_nodes=*/true, /*wait=*/false},
    {Case::kLost, [](const Finds& f) { return f.stored.kind != Stored::Kind::kReadable; },
     /*check_nodes=*/true, /*wait=*/true},
    {Case::kSame, [](const Finds& f) { return f.stored.status == done(f.own); },
     /*check_nodes=*/false, /*wait=*/true},
    {Case::kCompatible,
     [](const Finds& f) {
       return f.own.release >= f.stored.status.version &&
              f.stored.status.minimum >= f.own.min_apiserver_release;
     },
     /*check_nodes=*/false, /*wait=*/true},
    {Case::kRestrict, [](const Finds&) { return true; }, /*check_nodes=*/true, /*wait=*/true},
};

/// The status that closes the gate as far as needed while the leader works; nothing if the one that
/// is stored does.
std::optional<Status> closing(Case which, const Stored& stored, const Product& own) {
  if (which == Case::kRestrict) return intersection(stored.status, own);
  // While nothing readable is stored no node passes. Of unknown objects nobody could write a status
  // that is true, so that is how it stays until a whole pass is done.
  if (which != Case::kCompatible || stored.status.state == Status::State::kWorking) return {};
  Status working = stored.status;
  working.state = Status::State::kWorking;
  return working;
}

constexpr std::array<std::string_view, 5> kNames{"first", "lost", "same", "compatible", "restrict"};

}  // namespace

std::string_view to_string(Case which) noexcept {
  return kNames[static_cast<std::size_t>(which)];
}

Entry enter(const Stored& stored, const Product& own, bool acted) {
  const Finds finds{.stored = stored, .own = own, .acted = acted};
  const Row& row = *std::ranges::find_if(kRows, [&](const Row& r) { return r.applies(finds); });
  return {.which = row.which,
          .check_nodes = row.check_nodes,
          .wait = row.wait,
          .quarantine = stored.kind == Stored::Kind::kUnreadable,
          .status = closing(row.which, stored, own)};
}

Status done(const Product& own) {
  return {.state = Status::State::kDone,
          .version = own.release,
          .minimum = own.min_apiserver_release,
          .content = own.content};
}

Status intersection(const Status& stored, const Product& own) {
  return {.state = Status::State::kWorking,
          .version = std::min(stored.version, own.release),
          .minimum = std::max(stored.minimum, own.min_apiserver_release),
          .content = {}};
}

Clearance clear(const Membership& nodes, const Product& own,
                const std::optional<Release>& preserved) {
  using Verdict = Clearance::Verdict;
  if (!nodes.known()) return {.verdict = Verdict::kUnread};
  Clearance newer{.verdict = Verdict::kNewer};
  Clearance unknown{.verdict = Verdict::kUnknown};
  Clearance older{.verdict = Verdict::kOlder};
  for (const auto& [node, member] : nodes.members()) {
    if (!member.release) {
      unknown.nodes.push_back(member);
    } else if (*member.release > own.release) {
      if (!preserved || *member.release <= *preserved) newer.nodes.push_back(member);
    } else if (*member.release < own.min_apiserver_release) {
      older.nodes.push_back(member);
    }
  }
  for (Clearance* found : {&newer, &unknown, &older}) {
    if (!found->nodes.empty()) return std::move(*found);
  }
  return {.verdict = Verdict::kClear};
}

std::string describe(const Clearance& clearance, const Product& own) {
  using Verdict = Clearance::Verdict;
  if (clearance.verdict == Verdict::kClear) return "no node is in the way";
  if (clearance.verdict == Verdict::kUnread) return "the registered nodes were not read yet";
  std::string names;
  for (const Member& member : clearance.nodes) {
    if (!names.empty()) names += ", ";
    names += fmt::format("{} ({})", member.node,
                         member.release ? to_string(*member.release) : member.why);
  }
  if (clearance.verdict == Verdict::kNewer)
    return fmt::format("waits to be replaced by the newer {}", names);
  if (clearance.verdict == Verdict::kUnknown)
    return fmt::format("waits for {}, of unknown release", names);
  return fmt::format("waits for {}, which must be {} or newer", names,
                     to_string(own.min_apiserver_release));
}

}  // namespace wardmote::judge::version_gate
