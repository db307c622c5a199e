#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "judge/version_gate/release.h"
#include "judge/version_gate/status.h"

namespace wardmote::judge::version_gate {

/// The registration of a node that takes part in a gate.
struct Member {
  std::string node;
  std::optional<Release> release;
  std::string why{};  ///< why the release is not known, escaped
  friend bool operator==(const Member&, const Member&) = default;
};

/// That a node was registered, registered anew, or left.
struct MemberChange {
  Member member;
  bool removed = false;
  Revision revision = 0;
};

/// The registered nodes, as far as they were read, and the revision up to which nothing is missing.
class Membership {
 public:
  /// All nodes at one revision.
  void replace(std::vector<Member> members, Revision revision);
  /// What came of a watch: changes in order, of whole revisions. `upto` is the revision in the
  /// header. It counts only where there are no changes: while a watch catches up, etcd sends
  /// headers with the revision of the store, far ahead of the changes that are still to come
  /// (etcd 3.4.23, mvcc/watchable_store.go watchBatchMaxRevs).
  void apply(std::span<const MemberChange> changes, Revision upto);

  /// False: nothing was read yet, and nothing is known.
  [[nodiscard]] bool known() const noexcept { return revision_ > 0; }
  [[nodiscard]] Revision revision() const noexcept { return revision_; }
  [[nodiscard]] const std::map<std::string, Member>& members() const noexcept { return members_; }

 private:
  std::map<std::string, Member> members_;
  Revision revision_ = 0;
};

/// The lowest and the highest release of all nodes. Both count the local release, whether the local
/// node is registered or not. `preserved`: nodes of a newer release do not count for the highest.
struct Releases {
  Release min;
  Release max;
  friend bool operator==(const Releases&, const Releases&) = default;
};
Releases releases(const Membership& nodes, const Release& local,
                  const std::optional<Release>& preserved = std::nullopt);

/// Only nodes of the highest release stand in the election, also when several have it. A node whose
/// release is not known keeps nobody from it: it blocks where the nodes are checked. While somebody
/// preserves a release, newer nodes neither stand nor keep others from it: the objects stay as that
/// release writes them, so that there is a way back.
bool may_campaign(const Membership& nodes, const Release& local,
                  const std::optional<Release>& preserved = std::nullopt);

}  // namespace wardmote::judge::version_gate
