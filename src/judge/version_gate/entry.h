#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "judge/version_gate/membership.h"
#include "judge/version_gate/status.h"

namespace wardmote::judge::version_gate {

/// What a new leader finds. Cases 1 to 4 are Metropolis's (service_reconciler.go, lead); it takes a
/// status that it cannot read for an absent one, and so passes the gate unchecked.
enum class Case : std::uint8_t {
  kFirst,       ///< 1: no status, and nobody has written objects: no node serves yet
  kLost,        ///< no status, or one that nobody can read, though objects may exist
  kSame,        ///< 2: exactly what this leader would write
  kCompatible,  ///< 3: not newer than this leader, and closed to all nodes it needs closed out
  kRestrict,    ///< 4: a downgrade, or objects that need newer nodes than the status asks for
};
std::string_view to_string(Case which) noexcept;

/// What has to happen before a new leader writes objects.
struct Entry {
  Case which = Case::kLost;
  bool check_nodes = true;       ///< each registered node must work with what is to be written
  bool wait = true;              ///< reconcileWait, so that the last leader's writes have ended
  bool quarantine = false;       ///< the bytes of the status are kept aside
  std::optional<Status> status;  ///< to be put in the transaction that claims
};
/// `acted`: some leader has claimed the gate before, as the store says.
Entry enter(const Stored& stored, const Product& own, bool acted);

/// What the leader puts after a whole pass.
Status done(const Product& own);
/// What holds while objects of both sides exist: the older of the versions, the newer of the
/// minimums. So only nodes that work with both may start.
Status intersection(const Status& stored, const Product& own);

/// Whether every registered node works with what a leader is about to write; if not, who does not.
struct Clearance {
  enum class Verdict : std::uint8_t {
    kClear,
    kUnread,   ///< the nodes were not read yet
    kNewer,    ///< a newer node is there: this leader is about to be replaced
    kUnknown,  ///< the release of a node is not known
    kOlder,    ///< a node is older than the objects need
  };
  Verdict verdict = Verdict::kUnread;
  std::vector<Member> nodes{};  ///< who blocks
  friend bool operator==(const Clearance&, const Clearance&) = default;
};
/// `preserved` as may_campaign() has it: newer nodes than that are not in the way.
Clearance clear(const Membership& nodes, const Product& own,
                const std::optional<Release>& preserved = std::nullopt);

/// For people: `waits for ctl-2 (0.0.2), which must be 0.1.0 or newer`.
std::string describe(const Clearance& clearance, const Product& own);

}  // namespace wardmote::judge::version_gate
