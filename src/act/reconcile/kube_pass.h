#pragma once

#include <boost/json/object.hpp>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "act/reconcile/desired.h"
#include "act/reconcile/inventory.h"
#include "act/reconcile/kube_catalog.h"
#include "act/reconcile/kube_client.h"
#include "act/reconcile/kube_fence.h"
#include "act/reconcile/kube_target.h"
#include "act/reconcile/kube_watch.h"
#include "act/reconcile/kube_writer.h"
#include "act/reconcile/target.h"
#include "codec/yaml/manifests.h"
#include "judge/reconcile/decision.h"
#include "judge/reconcile/object_id.h"
#include "judge/reconcile/prune.h"
#include "judge/reconcile/report.h"
#include "runtime/runtime.h"
#include "runtime/task.h"

namespace wardmote::act::reconcile {

/// One pass over the objects of a set: reads, decides, applies, prunes. Life cycle: for one run();
/// what it borrows outlives it. Thread: the core loop.
class KubePass {
 public:
  KubePass(runtime::Runtime& runtime, KubeClient& client, const KubeSetOptions& options,
           Settled& settled, PassTerms terms)
      : runtime_(runtime),
        client_(client),
        writer_(client, terms.announce),
        options_(options),
        settled_(settled),
        terms_(std::move(terms)) {
    report_.dry = terms_.dry;
  }

  /// `faults` has what was in the way of the pass as a whole.
  runtime::Task<judge::reconcile::PassReport> run(std::vector<codec::Manifest> manifests);

  /// After run(): what was wanted, and the kinds that were listed.
  [[nodiscard]] DesiredSet take_desired() { return std::move(desired_); }
  [[nodiscard]] std::vector<WatchedKind> take_kinds() { return std::move(watched_); }

 private:
  using Action = judge::reconcile::ObjectReport::Action;
  using Live = std::optional<boost::json::object>;

  // kube_pass.cc: the pass as a whole
  runtime::Task<void> go(std::vector<codec::Manifest> manifests);
  /// False: nothing may be written.
  runtime::Task<bool> put_up_fence();
  runtime::Task<bool> read_inventory();
  runtime::Task<void> learn(std::set<KindName> kinds);
  /// Whether the server has the kind in any version that may be of the set.
  [[nodiscard]] bool is_served(const KindName& name) const;
  runtime::Task<void> follow_versions();
  runtime::Task<void> find_members();
  /// One object may have a name in two groups, of which one is the old one.
  void unite_names();
  [[nodiscard]] judge::reconcile::PrunePlan plan_prune() const;
  /// False: it could not be written.
  runtime::Task<bool> note(Inventory now);
  // kube_kept.cc
  /// Members that are kept when their manifests go: of what they say themselves somebody may take
  /// away, and what cannot be seen, because its kind is not served, says nothing.
  [[nodiscard]] std::set<judge::reconcile::ObjectId> kept_members() const;
  /// Those that manifests name. `saying_so`: they say it themselves, too.
  void keep_wanted(std::set<judge::reconcile::ObjectId>& kept,
                   std::vector<judge::reconcile::ObjectId>& saying_so) const;
  /// As the set itself has written it, whatever others have written there.
  [[nodiscard]] bool keeps_by_own_word(const judge::reconcile::ObjectId& id,
                                       const boost::json::object& object) const;
  [[nodiscard]] bool was_listed(const judge::reconcile::ObjectId& id) const;
  runtime::Task<bool> is_gone(judge::reconcile::ObjectId id);
  runtime::Task<void> prune();
  runtime::Task<void> prune_one(judge::reconcile::ObjectId id);
  [[nodiscard]] std::set<KindName> kinds_with_members() const;
  [[nodiscard]] judge::reconcile::LiveObject live_object(const judge::reconcile::ObjectId& id,
                                                         const boost::json::object& object) const;

  // kube_apply.cc: one object
  /// Rank after rank, a few objects of one at a time, until the server is gone.
  runtime::Task<void> treat_all();
  runtime::Task<void> treat_before(std::size_t end);
  [[nodiscard]] std::size_t end_of_rank(std::size_t first) const;
  /// What was said of objects since, in the order of the pass.
  void say_in_order(std::size_t first);
  runtime::Task<void> treat(const DesiredObject* object);
  runtime::Task<bool> wait_for_kind(KindName kind);
  /// Reads the object, unless it is a member that was found. False: that failed, and is reported.
  runtime::Task<bool> look(const DesiredObject* object, Live* live, bool anew);
  /// Whether it is to be written; why not is reported.
  bool wants_write(const DesiredObject& object, const Live& live);
  runtime::Task<void> write(const DesiredObject* object, Live live);
  /// Whether to apply it would change nothing.
  runtime::Task<bool> is_same_in_other_words(const DesiredObject* object, const Live* live);
  void remember(const DesiredObject& object, const boost::json::object& live);
  /// `reordered`: the list; empty: nothing is said.
  void say_order(const DesiredObject& object, const std::string& reordered);
  runtime::Task<Written> apply(const DesiredObject* object, const Live* live, bool force, bool dry);
  runtime::Task<void> recreate(const DesiredObject* object, Live live, std::string why);
  runtime::Task<void> read_again(const DesiredObject* object, Live live, Written written);
  /// Of an object that is there and that the set may not write.
  void say_foreign(const DesiredObject& object, const boost::json::object& live, std::string why);
  /// Whether the set itself makes the namespace.
  [[nodiscard]] bool makes_space(std::string_view space) const;
  [[nodiscard]] bool is_adopted(const DesiredObject& object, const Live& live) const;
  [[nodiscard]] std::string why_not_adopted(const DesiredObject& object,
                                            const boost::json::object& live) const;
  void settle(const DesiredObject& object, const Live& live, const boost::json::object& now,
              std::string why);
  [[nodiscard]] bool matches(const DesiredObject& object, const boost::json::object& live) const;
  [[nodiscard]] std::string path_of(const DesiredObject& object) const;
  void say(const judge::reconcile::ObjectId& id, Action action, std::string why,
           std::string diff = {});
  void say_refused(const judge::reconcile::ObjectId& id, std::string why, const Written& written);

  runtime::Runtime& runtime_;
  KubeClient& client_;
  KubeWriter writer_;
  const KubeSetOptions& options_;
  Settled& settled_;
  const PassTerms terms_;
  judge::reconcile::PassReport report_;
  KubeCatalog catalog_;
  Inventory inventory_;  ///< as the server has it
  std::set<judge::reconcile::ObjectId> kept_;
  std::set<KindName> kinds_;  ///< of which there may be members
  std::vector<DefinedKind> defined_;
  DesiredSet desired_;
  std::vector<WatchedKind> watched_;
  std::size_t next_ = 0;     ///< of the desired objects
  std::size_t treated_ = 0;  ///< of them
  bool doubted_ = false;     ///< so many members would go that nothing new is made either
  bool gone_ = false;        ///< the server does not answer any more
  bool fenced_ = false;      ///< it refuses our writes, because a later leader has raised the fence
  std::map<judge::reconcile::ObjectId, boost::json::object> members_;  ///< with our label
  std::map<judge::reconcile::ObjectId, KindName> kind_names_;          ///< of members
};

}  // namespace wardmote::act::reconcile
