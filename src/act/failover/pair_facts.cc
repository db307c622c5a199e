// What the manager of a pair knows: its own servers, the others, the store.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "act/failover/content_watch.h"
#include "act/failover/pair_leader.h"
#include "act/failover/pair_manager.h"
#include "act/failover/replica.h"
#include "base/epoch_ms.h"
#include "base/result.h"
#include "base/time.h"
#include "codec/ovn_global.h"
#include "codec/sync_status.h"
#include "judge/failover/candidate.h"
#include "judge/failover/decision.h"
#include "judge/failover/digest_ring.h"
#include "judge/failover/duty.h"
#include "judge/failover/member.h"
#include "runtime/deadline.h"
#include "runtime/endpoint.h"
#include "runtime/runtime.h"
#include "runtime/task.h"
#include "runtime/tls.h"
#include "store/clock_pair.h"
#include "store/failover_record.h"
#include "store/store.h"

namespace wardmote::act::failover {

using judge::failover::Copy;
using judge::failover::Duties;
using judge::failover::Epoch;
using judge::failover::Lock;
using judge::failover::Member;
using judge::failover::PairRecord;
using judge::failover::Source;
using judge::failover::SyncState;
using runtime::Deadline;
using runtime::Task;
using Life = ReplicaState::Life;
using Link = codec::SyncStatus::Link;
using namespace std::chrono_literals;

namespace {

/// A server whose process is stopped is known to be hung after one second.
constexpr Duration kLook = 4s;
constexpr Duration kAnswer = 1s;
/// ovsdb-server may compute for long; after this it counts as hung all the same.
constexpr Duration kLongestSilence = 30s;
constexpr Duration kPositionEvery = 5s;
constexpr Duration kTellAgain = 2s;
constexpr Duration kUnfit = 30s;
/// A copy that follows for so long does not become writable because of what it follows.
constexpr Duration kRelapse = 10s;
/// What the others need to compare a copy that stays as it is, and one that catches up.
constexpr std::size_t kToldSettled = 256;
constexpr std::size_t kToldFollowing = 16;

judge::failover::Trail newest_of(const ContentWatch& content, std::size_t most) {
  return content.follows() ? content.ring().newest(most) : judge::failover::Trail();
}

}  // namespace

Task<void> PairManager::look() {
  const Deadline deadline = runtime_.deadline_in(kLook);
  nb_state_ = co_await nb_.look(deadline);
  sb_state_ = co_await sb_.look(deadline);
  const bool silent = nb_state_.life == Life::kBusy || sb_state_.life == Life::kBusy;
  if (!silent) silent_.reset();
  if (silent && !silent_) silent_ = runtime_.now();
}

Copy PairManager::copy_of(const ReplicaState& state, const std::string& source) const {
  if (state.life == Life::kDown) return Copy::kDown;
  if (state.life == Life::kHung) return Copy::kHung;
  const bool too_long = silent_ && runtime_.now() - *silent_ >= kLongestSilence;
  if (state.life == Life::kBusy && too_long) return Copy::kHung;
  if (!state.answers()) return Copy::kUnknown;
  if (state.sync.active) return Copy::kActive;
  if (state.sync.source.contains(kNobody)) return Copy::kIsolated;
  if (source.empty() || state.sync.source != source) return Copy::kStray;
  return state.sync.link == Link::kReplicating ? Copy::kFollowing : Copy::kSearching;
}

std::optional<store::KeyValue> PairManager::leader_key() const {
  const std::string prefix = keys_.election() + "/";
  std::optional<store::KeyValue> first;
  for (const auto& [name, key] : view_.keys()) {
    if (!name.starts_with(prefix)) continue;
    if (!first || key.create_revision < first->create_revision) first = key;
  }
  return first;
}

PairRecord PairManager::record() const {
  const auto key = view_.find(keys_.pair());
  if (!key) return {};
  const Result<PairRecord> record = store::decode_pair(key->value);
  // One that cannot be read must not look like a pair that nobody was ever promoted in.
  return record ? *record : PairRecord{.epoch = UINT64_MAX, .claimed = UINT64_MAX};
}

std::vector<Member> PairManager::peers() const {
  const std::string prefix = keys_.members();
  std::vector<Member> found;
  for (const auto& [name, key] : view_.keys()) {
    if (!name.starts_with(prefix)) continue;
    const std::string node = name.substr(prefix.size());
    const bool is_member = std::ranges::find(options_.members, node) != options_.members.end();
    if (node == options_.node || !is_member) continue;
    Result<Member> member = store::decode_member(node, key.value);
    if (!member) {
      // It is there, and nobody knows what it has.
      member = Member{.name = node, .nb = Copy::kFollowing, .sb = Copy::kFollowing};
      member->unfit = "its record cannot be read";
    }
    found.push_back(*std::move(member));
  }
  return found;
}

std::optional<store::FailoverOrder> PairManager::open_order() const {
  const auto key = view_.find(keys_.order());
  if (!key) return std::nullopt;
  auto order = store::decode_failover_order(key->value);
  if (!order || !order->answer.empty()) return std::nullopt;
  return *std::move(order);
}

bool PairManager::forces_this_node() const {
  const auto order = open_order();
  return order && order->forced && order->to == options_.node &&
         order->until_ms > epoch_ms(runtime_.wall_now());
}

std::optional<store::FailoverPause> PairManager::paused() const {
  const auto key = view_.find(keys_.pause());
  if (!key) return std::nullopt;
  const store::ClockPair clock{runtime_.now(), runtime_.wall_now(), runtime_.boot()};
  auto pause = pause_reader_.read(key->key, key->value, clock);
  if (!pause) return store::FailoverPause{.by = "a record that cannot be read"};
  if (pause->until && *pause->until <= clock.now) return std::nullopt;
  return *std::move(pause);
}

judge::failover::Choice PairManager::choice() const {
  return {.members = options_.members, .forced = forces_this_node()};
}

bool PairManager::promoted_here() const noexcept {
  return promoted_token_ != 0 && promoted_nb_ && promoted_sb_ &&
         promoted_nb_ == nb_state_.process && promoted_sb_ == sb_state_.process;
}

bool PairManager::serves() const {
  return leads() && promoted_here() && links_.has(options_.address.address) &&
         own_.nb == Copy::kActive && own_.sb == Copy::kActive;
}

bool PairManager::announced() const {
  const PairRecord known = record();
  const auto fence = leader_->fence();
  return leads() && promoted_here() && fence &&
         std::get<std::int64_t>(fence->operand) == promoted_token_ &&
         known.token == promoted_token_ && known.active == options_.node && !known.released;
}

Lock PairManager::find_lock() const {
  if (leads()) return Lock::kMine;
  const bool writable = nb_state_.active() || sb_state_.active();
  if (writable && promoted_here()) return Lock::kReleased;
  // A store that is away for a moment is no reason to copy everything anew.
  const Duration patience = 2 * options_.ttl;
  const bool heard = heard_ && runtime_.now() - *heard_ < patience;
  const bool followed =
      view_.revision() > 0 && (!view_bad_ || runtime_.now() - *view_bad_ < patience);
  if (!heard || !followed) return Lock::kUnknown;
  const auto leader = leader_key();
  const PairRecord known = record();
  const bool announced = leader && known.token == leader->create_revision &&
                         known.active == leader->value && !known.released;
  return announced && leader->value != options_.node ? Lock::kOther : Lock::kNone;
}

/// What the rows of both databases say of promotions.
void PairManager::take_position(const std::optional<codec::GlobalRow>& nb,
                                const std::optional<codec::GlobalRow>& sb, bool ever_promoted) {
  judge::failover::Position& at = own_.position;
  const std::uint64_t nb_epoch = nb ? nb->epoch : 0;
  const std::uint64_t sb_epoch = sb ? sb->epoch : 0;
  at.epoch = std::min(nb_epoch, sb_epoch);
  at.author.clear();
  if (nb && nb_epoch == at.epoch) at.author = nb->node;
  if (sb && sb_epoch == at.epoch && nb_epoch > sb_epoch) at.author = sb->node;
  at.counter = nb ? nb->counter : 0;
  at.empty = !nb;
  // A promotion writes both rows, so where one is missing a copy was begun and not ended.
  const bool half = ever_promoted && at.epoch == 0 && nb.has_value() != sb.has_value();
  remember();
  at.sync = half ? SyncState::kHalf : sync_;
}

/// After what failed here others come first, for a while.
void PairManager::be_unfit(std::string why) {
  unfit_ = std::move(why);
  unfit_until_ = runtime_.now() + kUnfit;
  own_.unfit = unfit_;
}

/// How much of what the others have this copy has, and what keeps it from being promoted.
void PairManager::take_fitness() {
  own_.position.size = content_.rows();
  own_.trail = newest_of(content_, judge::failover::DigestRing::kLength);
  own_.sb_trail = newest_of(sb_content_, judge::failover::DigestRing::kLength);
  if (unfit_until_ && runtime_.now() >= *unfit_until_) {
    unfit_until_.reset();
    unfit_.clear();
  }
  own_.unfit = unfit_;
  look_at_disks();
  look_at_programs();
  if (own_.unfit.empty()) own_.unfit = full_;
  if (own_.unfit.empty()) own_.unfit = address_complaint_.value_or("");
  if (own_.unfit.empty() && relapses_ > 0)
    own_.unfit = "it became writable by itself when it was to follow: are the schemas the same?";
  own_.distrusted = distrusted_;
  if (own_.unfit.empty() && own_.settled() && !content_.follows() && !forces_this_node())
    own_.unfit = "nobody knows what this copy has";
}

Task<void> PairManager::assess() {
  std::string nb_source;
  std::string sb_source;
  const PairRecord known = record();
  lock_ = find_lock();
  for (const Member& peer : peers()) {
    if (lock_ != Lock::kOther || peer.name != known.active) continue;
    nb_source = peer.nb_source;
    sb_source = peer.sb_source;
  }
  own_.nb = copy_of(nb_state_, nb_source);
  own_.sb = copy_of(sb_state_, sb_source);
  own_.observes = !options_.acts;
  const store::FailoverSettings settings = settings_of(options_.node);
  // Before the store is read nobody knows whether somebody has forbidden it.
  const bool read = view_.revision() > 0;
  own_.nofailover = !read || settings.nofailover.value_or(options_.nofailover);
  own_.priority = settings.priority.value_or(options_.priority);
  own_.edited_by = settings.by;
  own_.nb_source = options_.nb_source;
  own_.sb_source = options_.sb_source;
  if (nb_state_.answers() && sb_state_.answers()) {
    const Deadline soon = runtime_.deadline_in(kAnswer);
    const Result<std::optional<codec::GlobalRow>> nb = co_await nb_.global(soon);
    const Result<std::optional<codec::GlobalRow>> sb = co_await sb_.global(soon);
    if (nb && sb) take_position(*nb, *sb, known.epoch > 0);
  }
  take_fitness();
  source_ = Source::kUnknown;
  const bool follows = own_.nb == Copy::kFollowing && own_.sb == Copy::kFollowing;
  if (lock_ == Lock::kOther && !follows) source_ = co_await judge_source();
}

void PairManager::remember() {
  const bool follows = own_.nb == Copy::kFollowing && own_.sb == Copy::kFollowing;
  if (follows) {
    // It is a whole copy of the active node's by now.
    if (!unfit_until_) unfit_.clear();
    distrusted_ = false;
    was_active_ = false;
    promoted_token_ = 0;
    sync_ = SyncState::kSynced;
    if (!followed_at_ || runtime_.now() - *followed_at_ >= kRelapse) relapses_ = 0;
  } else if (was_active_) {
    sync_ = SyncState::kWasActive;
  } else if (sync_ == SyncState::kSynced && !own_.settled()) {
    sync_ = SyncState::kLost;
  }
  if (nb_state_.answers() && !nb_state_.active()) {
    backup_nb_ = nb_state_.process;
    const auto content = content_.ring().newest(1);
    if (!content.empty()) backup_content_ = content.back();
  }
  if (sb_state_.answers() && !sb_state_.active()) backup_sb_ = sb_state_.process;
}

Task<Source> PairManager::judge_database(Replica* replica, std::string source) {
  const Result<runtime::Endpoint> at = runtime::parse_endpoint(source);
  if (!at) co_return Source::kNone;
  if (links_.has(at->host)) co_return Source::kSelf;
  const Deadline soon = runtime_.deadline_in(kAnswer);
  const Result<std::string> own = co_await replica->server_id(soon);
  runtime::Endpoint endpoint = *at;
  if (options_.tls) endpoint.tls = std::make_shared<const runtime::TlsSettings>(*options_.tls);
  std::string database = replica->files().database;
  const Result<SourceFacts> facts =
      co_await ask_source(&runtime_, std::move(endpoint), std::move(database), soon);
  if (!facts || !own) co_return Source::kUnknown;
  if (facts->server_id == *own) co_return Source::kSelf;
  if (!facts->global) co_return Source::kEmpty;
  co_return facts->global->epoch < record().epoch ? Source::kOlder : Source::kGood;
}

/// Whether this node may copy from the active one. Both databases must be good.
Task<Source> PairManager::judge_source() {
  const PairRecord known = record();
  // It knows of promotions that the store does not: that is an older store.
  if (own_.position.epoch > known.claimed) co_return Source::kOlder;
  std::string nb;
  std::string sb;
  for (const Member& peer : peers()) {
    if (peer.name != known.active) continue;
    // One that has just come back may have older files; it looks at them first.
    if (peer.nb != Copy::kActive || peer.sb != Copy::kActive) co_return Source::kUnknown;
    nb = peer.nb_source;
    sb = peer.sb_source;
  }
  if (nb.empty() || sb.empty()) co_return Source::kUnknown;
  Source source = co_await judge_database(&nb_, std::move(nb));
  if (source == Source::kGood) source = co_await judge_database(&sb_, std::move(sb));
  co_return source;
}

void PairManager::decide() {
  const PairRecord known = record();
  const std::vector<Member> others = peers();
  candidacy_ = judge_candidate(own_, others, known, choice());
  Duties now;
  now.nb = own_.nb;
  now.sb = own_.sb;
  // What was awaited since may have taken longer than the lease.
  lock_ = now.lock = find_lock();
  const auto epoch = judge::failover::counted_epoch(own_.position.epoch, known);
  if (known.epoch > 0 && epoch) now.epoch = *epoch < known.epoch ? Epoch::kOlder : Epoch::kCurrent;
  now.source = source_;
  now.candidacy = candidacy_.verdict;
  now.address = links_.has(options_.address.address);
  now.announced = announced();
  now.standing = election_ != nullptr;
  now.paused = paused().has_value();
  decided_ = judge::failover::next_duty(now);
  if (decided_.duty == judge::failover::Duty::kStand && runtime_.now() < rest_until_)
    decided_ = {judge::failover::Duty::kWait, "it stood a moment ago"};
  if (decided_.duty == judge::failover::Duty::kFollow && runtime_.now() < follow_after_)
    decided_ = {judge::failover::Duty::kWait, "it could not follow a moment ago"};
}

/// What changes with each commit is told while the copy does not change any more, or catches up so
/// that the active node may give up; else now and then.
void PairManager::publish() {
  heir_ = record().heir == options_.node;
  Member told = own_;
  const std::size_t most = told.settled() ? kToldSettled : heir_ ? kToldFollowing : 0;
  told.trail = newest_of(content_, most);
  told.sb_trail = newest_of(sb_content_, most);
  std::string record = store::encode(told);
  told.trail.clear();
  told.sb_trail.clear();
  told.position.counter = 0;
  told.position.size = 0;
  std::string core = store::encode(told);
  const TimePoint now = runtime_.now();
  const auto stored = view_.find(keys_.member(options_.node));
  const bool lost = !told_.empty() && (!stored || stored->value != told_);
  const bool due =
      core != told_core_ || ((most > 0 || now - told_at_ >= kPositionEvery) && record != told_);
  if (!due && !(lost && now - told_at_ >= kTellAgain)) return;
  presence_.put(keys_.member(options_.node), record);
  told_ = std::move(record);
  told_core_ = std::move(core);
  told_at_ = now;
}

}  // namespace wardmote::act::failover
