#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "judge/reconcile/report.h"
#include "judge/version_gate/admission.h"
#include "judge/version_gate/entry.h"
#include "judge/version_gate/membership.h"
#include "judge/version_gate/release.h"
#include "judge/version_gate/status.h"

namespace wardmote::judge::version_gate {

/// What the leader of a gate last said of its work.
struct Progress {
  std::string node;
  Revision token = 0;              ///< of the election that it won
  std::string step;                ///< `blocked`, `waiting`, `passing`, `failing`, `resting`
  std::string why;                 ///< for people, escaped
  std::vector<std::string> nodes;  ///< `blocked`: by whom
  WallTime since;
  friend bool operator==(const Progress&, const Progress&) = default;
};

/// What an operator ordered for a gate: a record beside its state.
struct Hold {
  Release release;  ///< preserved, if it is that
  std::string by;   ///< escaped
  std::string why;  ///< the record cannot be read; then it holds everything
};

/// A gate as one node knows it.
struct Report {
  struct Candidate {
    std::string node;
    Revision token = 0;
  };
  std::string gate;
  std::string node;  ///< whose view this is
  Product own;
  Admission admission;
  WallTime since;  ///< of this verdict
  std::optional<Revision> registered;
  Stored stored;
  std::optional<Earlier> earlier;  ///< what counts besides, after the store was set back
  Revision read_at = 0;
  std::vector<Member> nodes;          ///< the registered ones
  std::vector<Candidate> candidates;  ///< in the election, the leader first
  std::optional<Progress> progress;   ///< of the present leader
  std::optional<std::string>
      mode;  ///< how this node takes part in reconciling; nothing: it does not
  std::optional<Hold> preserved;
  std::string paused_by;    ///< empty: nobody paused this gate
  bool all_paused = false;  ///< `paused_by`: everything, and not this gate by itself
  std::optional<Clearance>
      clearance;  ///< for what this node would write; nothing: it writes nothing
  /// The last pass of this node, or what one would do; null: there was none, or a program does it.
  std::shared_ptr<const reconcile::PassReport> pass;
  /// The last pass that this node made as the leader, while nobody leads; null: there was none. It
  /// says nothing of how things are now.
  std::shared_ptr<const reconcile::PassReport> last_pass;
  std::optional<reconcile::PassProgress> under_way;  ///< the pass of this node that runs now
  std::optional<reconcile::Tally> tally;  ///< of this node's passes; nothing: it makes none
  std::optional<Duration> age;            ///< since the store confirmed this; nothing: it never has
  std::optional<std::string> complaint;
};

/// `no_status`, as programs read it.
std::string_view to_string(Admission::Verdict verdict) noexcept;

/// What has to happen so that this node may serve, for people; empty: it may.
std::string what_unblocks(const Report& report);

}  // namespace wardmote::judge::version_gate
