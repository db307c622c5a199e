#include "judge/version_gate/membership.h"

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/result.h"
#include "judge/version_gate/release.h"
#include "judge/version_gate/status.h"

namespace wardmote::judge::version_gate {

Result<void> check_sense(const Product& product) {
  for (const Release& needed : {product.min_reconciler_release, product.min_apiserver_release}) {
    if (needed > product.release) {
      return fail(Errc::kInvalid, "release {} asks for {}, which is newer than itself",
                  to_string(product.release), to_string(needed));
    }
  }
  return {};
}

void Membership::replace(std::vector<Member> members, Revision revision) {
  members_.clear();
  for (Member& member : members) {
    std::string node = member.node;
    members_.insert_or_assign(std::move(node), std::move(member));
  }
  revision_ = revision;
}

void Membership::apply(std::span<const MemberChange> changes, Revision upto) {
  for (const MemberChange& change : changes) {
    if (change.removed) {
      members_.erase(change.member.node);
    } else {
      members_.insert_or_assign(change.member.node, change.member);
    }
  }
  const Revision seen = changes.empty() ? upto : changes.back().revision;
  revision_ = std::max(revision_, seen);
}

Releases releases(const Membership& nodes, const Release& local,
                  const std::optional<Release>& preserved) {
  Releases found{.min = local, .max = local};
  for (const auto& [node, member] : nodes.members()) {
    if (!member.release) continue;
    found.min = std::min(found.min, *member.release);
    if (!preserved || *member.release <= *preserved)
      found.max = std::max(found.max, *member.release);
  }
  return found;
}

bool may_campaign(const Membership& nodes, const Release& local,
                  const std::optional<Release>& preserved) {
  if (preserved && local > *preserved) return false;
  return nodes.known() && local >= releases(nodes, local, preserved).max;
}

}  // namespace wardmote::judge::version_gate
