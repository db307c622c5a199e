#include "act/gate/gate_node.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "act/gate/progress.h"
#include "act/gate/records.h"
#include "base/format.h"
#include "base/log.h"
#include "base/result.h"
#include "base/text.h"
#include "base/time.h"
#include "judge/version_gate/admission.h"
#include "judge/version_gate/entry.h"
#include "judge/version_gate/leader.h"
#include "judge/version_gate/membership.h"
#include "judge/version_gate/release.h"
#include "judge/version_gate/report.h"
#include "judge/version_gate/status.h"
#include "runtime/deadline.h"
#include "runtime/runtime.h"
#include "runtime/task.h"
#include "store/seen_revision.h"
#include "store/store.h"

namespace wardmote::act::gate {

using judge::version_gate::Member;
using judge::version_gate::Report;
using runtime::Deadline;
using runtime::Task;
using store::Revision;
using namespace std::chrono_literals;

namespace {

constexpr Duration kPatience = 5s;
constexpr Duration kTryAgain = 500ms;
/// A view that the store has not confirmed for so long is said to be old.
constexpr Duration kOld = 10s;
constexpr std::size_t kNameCap = 64;

}  // namespace

GateNode::GateNode(runtime::Runtime& runtime, store::Store& store, NodeOptions options)
    : runtime_(runtime),
      store_(store),
      options_(std::move(options)),
      nodes_(runtime, store, options_.layout.nodes, [this] { nodes_changed(); }),
      state_(runtime, store, options_.layout.state, [this] { state_changed(); }),
      since_(runtime.wall_now()),
      woken_(runtime.executor()),
      tasks_(runtime.executor()) {
  judge();
}

void GateNode::start() {
  nodes_.start();
  state_.start();
  tasks_.spawn("gate " + options_.gate, run());
}

Task<void> GateNode::stop() {
  listeners_.clear();
  co_await tasks_.stop();
  co_await nodes_.stop();
  co_await state_.stop();
}

Task<void> GateNode::run() {
  for (;;) {
    while (!dirty_) co_await woken_.wait();
    dirty_ = false;
    if (wants_to_enroll()) {
      const Result<void> done = co_await enroll();
      not_taken_ = done ? std::nullopt : std::optional(done.error().describe());
      judge();
    }
    // Register, then read: what was read before does not count.
    if (wants_to_read()) {
      const Revision at = *registered_;
      const Result<void> read = co_await state_.read(runtime_.deadline_in(kPatience));
      read_since_ = read && registered_ == at;
      not_taken_ = read ? std::nullopt : std::optional(read.error().describe());
      judge();
    }
    if (!wants_to_enroll() && !wants_to_read()) continue;
    co_await runtime_.sleep_until(runtime_.now() + kTryAgain);
    dirty_ = true;
  }
}

bool GateNode::wants_to_enroll() const {
  return options_.enroll && nodes_.revision() > 0 && !registered_ && !(enrolled_ && other_);
}

/// Whatever became of an earlier attempt is read first, so one whose outcome is not known is no
/// different.
Task<Result<void>> GateNode::enroll() {
  const std::string key = options_.layout.node(options_.self.node);
  std::string wanted = key;
  const auto found = co_await store_.get(std::move(wanted), runtime_.deadline_in(kPatience));
  if (!found) co_return with_context(found, "register {}", options_.self.node);
  const OwnRecord own = compare(found->key, options_.self, options_.own.release);
  if (own.kind == OwnRecord::Kind::kOurs) {
    enrolled_ = true;
    take(*found->key);
    co_return Result<void>();
  }
  if (enrolled_ && own.kind == OwnRecord::Kind::kOther) {
    other_ = own.says;
    co_return Result<void>();
  }
  const std::string before = found->key ? found->key->value : "";
  store::Transaction transaction;
  transaction.conditions.push_back(
      found->key ? store::Compare::unchanged_since(key, found->key->mod_revision)
                 : store::Compare::absent(key));
  transaction.changes.emplace_back(
      store::Put{key, write_node(options_.self, options_.own.release, before)});
  const auto put = co_await store_.put_if(std::move(transaction), runtime_.deadline_in(kPatience));
  if (!put) co_return with_context(put, "register {}", options_.self.node);
  if (!put->held) co_return fail(Errc::kRejected, "register: the record has just changed");
  enrolled_ = true;
  take({.key = key,
        .create_revision = found->key ? found->key->create_revision : put->revision,
        .mod_revision = put->revision,
        .version = found->key ? found->key->version + 1 : 1});
  log(LogLevel::kInfo, "gate_registered",
      {{"gate", options_.gate},
       {"node", options_.self.node},
       {"release", to_string(options_.own.release)}});
  co_return Result<void>();
}

void GateNode::take(const store::KeyValue& own) {
  other_.reset();
  // One that was written again and again by us or by a program that keeps other things in it has
  // held all the time. After anything else, also when it was removed for a moment, it counts from
  // now.
  const bool seen_all = own_gap_ == nodes_.gaps() || own.mod_revision == own_.mod_revision;
  const bool went_on = registered_ && seen_all && own.create_revision == own_.create_revision &&
                       own.version - own_.version <= 1;
  if (!went_on) {
    registered_ = own.mod_revision;
    read_since_ = false;
  }
  own_ = own;
  own_gap_ = nodes_.gaps();
}

void GateNode::check_own() {
  if (nodes_.revision() == 0) return;
  const auto own = nodes_.find(options_.layout.node(options_.self.node));
  // What we wrote has not come by yet.
  if (registered_ && own_gap_ == nodes_.gaps() && nodes_.revision() < *registered_) return;
  const OwnRecord found = compare(own, options_.self, options_.own.release);
  if (found.kind == OwnRecord::Kind::kOurs) {
    // Before our own first attempt it is that of an earlier life: just as good.
    enrolled_ = true;
    take(*own);
    return;
  }
  if (registered_) {
    log(LogLevel::kWarning, "gate_registration_lost",
        {{"gate", options_.gate}, {"node", options_.self.node}, {"now", found.says}});
  }
  registered_.reset();
  other_ = found.kind == OwnRecord::Kind::kOther ? std::optional(found.says) : std::nullopt;
}

void GateNode::nodes_changed() {
  std::vector<Member> members;
  std::map<std::string, Revision> unread;
  for (const auto& [key, value] : nodes_.keys()) {
    const std::string_view name = std::string_view(key).substr(options_.layout.nodes.size());
    if (name.empty() || name.contains('/')) continue;
    auto member = read_member(name, value.value);
    if (member && !member->release) unread.emplace(member->node, value.mod_revision);
    if (member) members.push_back(*std::move(member));
  }
  members_.replace(std::move(members), nodes_.revision());
  complain_of(std::move(unread));
  check_own();
  judge();
}

void GateNode::complain_of(std::map<std::string, Revision> unread) {
  for (const auto& [node, revision] : unread) {
    const auto told = unread_.find(node);
    if (told != unread_.end() && told->second == revision) continue;
    log(LogLevel::kWarning, "gate_registration_not_understood",
        {{"gate", options_.gate}, {"node", node}, {"why", members_.members().at(node).why}});
  }
  unread_ = std::move(unread);
}

void GateNode::state_changed() {
  stored_ = read_status(state_.find(options_.layout.status()));
  const auto claim = state_.find(options_.layout.claim());
  preserved_ = read_preserve(state_.find(options_.layout.preserve()));
  claimed_ = claim ? claim->mod_revision : 0;
  const bool known = memory_.earlier().has_value();
  memory_.look({.stored = stored_,
                .claimed = claimed_,
                .claim = claim ? claim->value : "",
                .revision = state_.revision(),
                .lists = state_.gaps(),
                .history = store_.seen().mark().history});
  if (!known && memory_.earlier()) {
    log(LogLevel::kWarning, "gate_store_set_back",
        {{"gate", options_.gate}, {"node", options_.self.node}});
  }
  judge();
}

void GateNode::judge() {
  // By the moment too and not by the revision alone: in a history that began anew revisions are
  // low.
  auto admission = admit(options_.own, registered_, stored_, read_since_ ? state_.revision() : 0,
                         memory_.earlier());
  using Verdict = judge::version_gate::Admission::Verdict;
  if (admission.verdict == Verdict::kUnregistered && other_ && (enrolled_ || !options_.enroll)) {
    admission.why += fmt::format("; the registration of {} says {}", options_.self.node, *other_);
    if (options_.enroll) admission.why += ": two processes have this name";
  }
  if (admission.verdict != admission_.verdict) since_ = runtime_.wall_now();
  admission_ = std::move(admission);
  dirty_ = true;
  woken_.notify();
  for (const auto& changed : listeners_) changed();
}

Task<Result<void>> GateNode::read_again(Deadline deadline) {
  Result<void> read = co_await nodes_.read(deadline);
  if (read) read = co_await state_.read(deadline);
  co_return read;
}

judge::version_gate::Facts GateNode::facts() const {
  return {.nodes = members_,
          .stored = stored_,
          .claimed = claimed_,
          .preserved = preserved_ ? std::optional(preserved_->release) : std::nullopt,
          .read_at = state_.revision()};
}

judge::version_gate::Clearance GateNode::clearance() const {
  if (!sees_itself()) return {.verdict = judge::version_gate::Clearance::Verdict::kUnread};
  return clear(members_, options_.own, facts().preserved);
}

std::optional<Duration> GateNode::age() const {
  const auto nodes = nodes_.confirmed();
  const auto state = state_.confirmed();
  if (!nodes || !state) return std::nullopt;
  return runtime_.now() - std::min(*nodes, *state);
}

std::optional<std::string> GateNode::complaint() const {
  for (const std::optional<std::string>* one : {&state_.complaint(), &nodes_.complaint()}) {
    if (*one) return *one;
  }
  if (not_taken_) return not_taken_;
  const auto old = age();
  if (old && *old > kOld)
    return fmt::format("the store has not answered for {}", format_duration(*old));
  return std::nullopt;
}

Report GateNode::report() const {
  Report report{.gate = options_.gate,
                .node = options_.self.node,
                .own = options_.own,
                .admission = admission_,
                .since = since_,
                .registered = registered_,
                .stored = stored_,
                .earlier = memory_.earlier(),
                .read_at = state_.revision()};
  for (const auto& [node, member] : members_.members()) report.nodes.push_back(member);
  const std::string candidates = options_.layout.election() + "/";
  for (const auto& [key, value] : state_.keys()) {
    if (!key.starts_with(candidates)) continue;
    report.candidates.push_back({escape_control(value.value, kNameCap), value.create_revision});
  }
  std::ranges::sort(report.candidates, {}, &Report::Candidate::token);
  const auto progress = state_.find(options_.layout.progress());
  if (progress) report.progress = read_progress(progress->value);
  report.preserved = preserved_;
  const bool of_the_leader = report.progress && !report.candidates.empty() &&
                             report.candidates.front().token == report.progress->token;
  if (!of_the_leader) report.progress.reset();
  report.age = age();
  report.complaint = complaint();
  return report;
}

}  // namespace wardmote::act::gate
