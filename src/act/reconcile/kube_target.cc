#include "act/reconcile/kube_target.h"

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "act/reconcile/desired.h"
#include "act/reconcile/kube_login.h"
#include "act/reconcile/kube_pass.h"
#include "act/reconcile/kube_watch.h"
#include "act/reconcile/target.h"
#include "base/format.h"
#include "base/time.h"
#include "codec/kube_api.h"
#include "codec/kube_object.h"
#include "codec/yaml/manifests.h"
#include "judge/reconcile/object_id.h"
#include "judge/reconcile/policy.h"
#include "judge/reconcile/report.h"
#include "runtime/file_tree.h"
#include "runtime/task.h"

namespace wardmote::act::reconcile {

namespace rules = judge::reconcile;
using judge::reconcile::ObjectId;
using judge::reconcile::PassReport;
using runtime::Task;

namespace {

constexpr std::size_t kMostFaults = 50;

}  // namespace

bool is_manifest(std::string_view path) {
  return path.ends_with(".yaml") || path.ends_with(".yml") || path.ends_with(".json");
}

std::string field_manager(const std::string& set) {
  return "wardmote/" + set;
}

bool is_settled(const Settled& settled, const DesiredObject& object,
                const boost::json::object& live) {
  const auto found = settled.find(object.id);
  return found != settled.end() && found->second.digest == object.digest &&
         found->second.version == codec::read_head(live).resource_version;
}

std::string selector_of(const std::string& set) {
  return fmt::format("{}={}", rules::kSetLabel, set);
}

void KubeTarget::watch(const std::function<void()>& drifted) {
  if (lines_ == nullptr || watch_) return;
  watch_ = std::make_unique<KubeWatch>(runtime_, http_, *lines_, KubeLogin(files_, options_.login),
                                       selector_of(options_.set));
  watch_->act_as(client_.actor());
  std::vector<WatchedKind> kinds = kinds_;
  watch_->start(
      std::move(kinds),
      [this](const WatchedKind& kind, const codec::KubeEvent& event) {
        return is_drift(kind, event);
      },
      drifted);
}

Task<void> KubeTarget::stop_watching() {
  if (!watch_) co_return;
  co_await watch_->stop();
  watch_.reset();
}

/// What the pass wrote itself comes by, too, and what it left for good reason is no drift.
bool KubeTarget::is_drift(const WatchedKind& kind, const codec::KubeEvent& event) const {
  const codec::ObjectHead head = codec::read_head(event.object);
  const auto wanted = kept_.find(ObjectId{.group = rules::group_of(kind.name.first),
                                          .kind = kind.name.second,
                                          .space = head.space,
                                          .name = head.name});
  if (wanted == kept_.end()) return false;
  using Apply = rules::Policy::Apply;
  const Apply policy = wanted->second.policy.apply;
  if (policy == Apply::kIgnore) return false;
  if (event.kind == codec::KubeEvent::Kind::kGone) return true;
  return policy == Apply::kOverride && head.deleting_since.empty() &&
         !is_settled(settled_, wanted->second, event.object) &&
         !is_as_wanted(wanted->second, event.object, field_manager(options_.set));
}

Task<PassReport> KubeTarget::pass(std::vector<runtime::TreeFile> wanted, PassTerms terms) {
  PassReport report{.dry = terms.dry, .begun = runtime_.wall_now()};
  const TimePoint begun = runtime_.now();
  codec::Manifests manifests;
  for (const runtime::TreeFile& file : wanted) {
    if (is_manifest(file.path)) codec::read_manifests(file.path, file.bytes, manifests);
  }
  for (const codec::ManifestFault& fault : manifests.faults) {
    // Of many faults the first ones say enough.
    if (report.faults.size() < kMostFaults) report.faults.push_back(codec::describe(fault));
  }
  if (!report.faults.empty()) co_return report;
  KubePass pass(runtime_, client_, options_, settled_, std::move(terms));
  report = co_await pass.run(std::move(manifests.objects));
  kept_.clear();
  DesiredSet desired = pass.take_desired();
  for (DesiredObject& object : desired.objects) {
    ObjectId id = object.id;
    kept_.insert_or_assign(std::move(id), std::move(object));
  }
  kinds_ = pass.take_kinds();
  report.took = runtime_.now() - begun;
  co_return report;
}

}  // namespace wardmote::act::reconcile
