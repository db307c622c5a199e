#include "act/kubernetes/node_conditions.h"

#include <algorithm>
#include <boost/json/serialize.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <string>
#include <utility>
#include <vector>

#include "act/reconcile/kube_client.h"
#include "base/format.h"
#include "base/log.h"
#include "base/percent.h"
#include "base/result.h"
#include "base/text.h"
#include "base/time.h"
#include "codec/kube_node.h"
#include "codec/kubernetes.h"
#include "judge/node_condition.h"
#include "runtime/deadline.h"
#include "runtime/task.h"

namespace wardmote::act::kubernetes {

using codec::KubeCondition;
using judge::NodeCondition;
using runtime::Deadline;
using runtime::Task;
using namespace std::chrono_literals;

namespace {

constexpr Duration kLookEvery = 1s;
constexpr Duration kTryAgain = 5s;
/// What is only told otherwise is written no more often.
constexpr Duration kWordsEvery = 1min;
constexpr Duration kPatience = 10s;
/// The agent ends within a second and a half.
constexpr Duration kLastPatience = 1s;
constexpr int kHeartbeatsOfSilence = 3;
constexpr int kGood = 200;
constexpr std::size_t kMostSent = 16;
constexpr std::uint64_t kJitterMs = 500;

bool has_same_status(const std::vector<NodeCondition>& a, const std::vector<NodeCondition>& b) {
  return std::ranges::equal(a, b, [](const NodeCondition& one, const NodeCondition& other) {
    return one.type == other.type && one.status == other.status;
  });
}

const KubeCondition* find(const std::vector<KubeCondition>& conditions, const std::string& type) {
  const auto found = std::ranges::find(conditions, type, &KubeCondition::type);
  return found == conditions.end() ? nullptr : &*found;
}

}  // namespace

void NodeConditions::start(Source source) {
  source_ = std::move(source);
  tasks_.spawn("node conditions", keep());
}

Task<void> NodeConditions::stop() {
  co_await tasks_.stop();
  if (sent_.empty()) co_return;
  std::vector<NodeCondition> last = written_;
  judge::forget(last);
  const Result<void> written = co_await write(std::move(last), runtime_.deadline_in(kLastPatience));
  tell(written);
}

Task<void> NodeConditions::keep() {
  for (;;) {
    Duration pause = kLookEvery;
    std::vector<NodeCondition> now = source_();
    if (is_due(now)) {
      const Result<void> written = co_await write(std::move(now), runtime_.deadline_in(kPatience));
      tell(written);
      if (!written) {
        // It may have arrived all the same: what the Node says is not known any more.
        last_.reset();
        pause = kTryAgain;
      }
    }
    // Two agents that began together do not write at the same time for ever.
    pause += std::chrono::milliseconds(runtime_.random() % kJitterMs);
    co_await runtime_.sleep_until(runtime_.now() + pause);
  }
}

bool NodeConditions::is_due(const std::vector<NodeCondition>& now) const {
  if (now.empty() && written_.empty()) return false;
  if (!last_ || !has_same_status(now, written_)) return true;
  const Duration since = runtime_.now() - *last_;
  return since >= options_.heartbeat || (since >= kWordsEvery && now != written_);
}

Task<Result<std::vector<KubeCondition>>> NodeConditions::read(Deadline deadline) {
  const Result<void> begun = co_await client_.begin({});
  if (!begun) co_return std::unexpected(begun.error());
  std::string path = "/api/v1/nodes/" + percent_encode_value(options_.node);
  const auto node = co_await client_.get(std::move(path), deadline);
  if (!node) co_return std::unexpected(node.error());
  if (!*node)
    co_return fail(Errc::kMissing, "there is no Node {}: name it as 'node'",
                   escape_control(options_.node));
  co_return codec::read_node_conditions(**node);
}

bool NodeConditions::is_of_another(const KubeCondition& live) {
  if (judge::is_goodbye(live.reason)) {
    rivals_.erase(live.type);
    return false;
  }
  const TimePoint now = runtime_.now();
  if (const auto rival = rivals_.find(live.type); rival != rivals_.end()) {
    if (rival->second.heartbeat != live.heartbeat) rival->second = {live.heartbeat, now};
    if (now - rival->second.seen < options_.heartbeat * kHeartbeatsOfSilence) return true;
    rivals_.erase(rival);
    return false;
  }
  // What an agent finds at its start, it may have written itself before.
  if (!sent_.contains(live.type) || is_own(live)) return false;
  sent_.erase(live.type);
  rivals_[live.type] = {live.heartbeat, now};
  log(LogLevel::kError, "node_condition_contested",
      {{"node", options_.node},
       {"type", live.type},
       {"reason", "somebody else writes it too, and this agent leaves it to him"}});
  return true;
}

bool NodeConditions::is_own(const KubeCondition& live) const {
  const auto own = sent_.find(live.type);
  return own != sent_.end() && std::ranges::find(own->second, live.heartbeat) != own->second.end();
}

bool NodeConditions::is_left_over(const KubeCondition& live) {
  if (!judge::is_ours(live.type, live.reason) || sent_.contains(live.type)) return false;
  const TimePoint now = runtime_.now();
  const auto [orphan, is_new] = orphans_.try_emplace(live.type, Rival{live.heartbeat, now});
  if (orphan->second.heartbeat != live.heartbeat) orphan->second = {live.heartbeat, now};
  return !is_new && now - orphan->second.seen >= options_.heartbeat * kHeartbeatsOfSilence;
}

Task<Result<void>> NodeConditions::write(std::vector<NodeCondition> now, Deadline deadline) {
  const auto live = co_await read(deadline);
  if (!live) co_return std::unexpected(live.error());
  const std::string at = codec::kubernetes_time(runtime_.wall_now());
  std::vector<KubeCondition> changed;
  for (const NodeCondition& one : now) {
    const KubeCondition* const before = find(*live, one.type);
    if (before != nullptr && is_of_another(*before)) continue;
    const std::string status(to_string(one.status));
    const bool same = before != nullptr && before->status == status;
    changed.push_back(
        {one.type, status, one.reason, one.message, at, same ? before->transition : at});
  }
  // Whose checks the configuration has no more.
  std::vector<std::string> removed;
  for (const KubeCondition& one : *live) {
    const bool stays = std::ranges::find(now, one.type, &NodeCondition::type) != now.end();
    if (!stays && (is_own(one) || is_left_over(one))) removed.push_back(one.type);
  }
  if (!changed.empty() || !removed.empty()) {
    reconcile::KubeRequest request{
        .method = "PATCH",
        .path = fmt::format("/api/v1/nodes/{}/status?fieldManager=wardmote",
                            percent_encode_value(options_.node)),
        .content_type = std::string(codec::kStrategicMerge),
        .body = boost::json::serialize(codec::make_conditions_patch(changed, removed)),
        .writes = true};
    for (const KubeCondition& one : changed) {
      std::vector<std::string>& sent = sent_[one.type];
      if (sent.size() == kMostSent) sent.erase(sent.begin());
      sent.push_back(at);
    }
    const auto answer = co_await client_.ask(std::move(request), deadline);
    if (!answer) co_return std::unexpected(answer.error());
    if (answer->status != kGood) co_return reconcile::refused(*answer, "the status of the Node");
  }
  for (const std::string& type : removed) {
    sent_.erase(type);
    orphans_.erase(type);
  }
  written_ = std::move(now);
  last_ = runtime_.now();
  co_return Result<void>();
}

void NodeConditions::tell(const Result<void>& written) {
  std::string why = written ? "" : written.error().describe();
  if (why == said_) return;
  said_ = std::move(why);
  if (said_.empty()) {
    log(LogLevel::kInfo, "node_conditions_written", {{"node", options_.node}});
  } else {
    log(LogLevel::kError, "node_conditions_not_written",
        {{"node", options_.node}, {"reason", said_}});
  }
}

}  // namespace wardmote::act::kubernetes
