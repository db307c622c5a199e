#include "store/seen_revision.h"

#include <string>
#include <utility>

#include "base/format.h"

namespace wardmote::store {

void SeenRevision::answered(const Mark& asked, Revision revision, bool wrote) {
  if (asked.history != history_) return;
  if (revision >= asked.revision + (wrote ? 1 : 0)) {
    see(revision);
    return;
  }
  ++history_;
  const Revision from = std::exchange(newest_, revision);
  const std::string what = fmt::format(
      "the store was at revision {}, and what it says is of {}: it was emptied, or an "
      "older copy was put in its place",
      from, revision);
  for (const auto& call : set_back_) call(what);
}

}  // namespace wardmote::store
