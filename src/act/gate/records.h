#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "judge/version_gate/membership.h"
#include "judge/version_gate/report.h"
#include "judge/version_gate/status.h"
#include "store/store.h"

namespace wardmote::act::gate {

/// Where a gate keeps what its nodes share. Both are prefixes, and neither begins with the other.
struct Layout {
  std::string state;  ///< `/wardmote/prod/gate/k8s/state/`; Metropolis: `…/kubernetes/reconciler/`
  std::string nodes;  ///< `/wardmote/prod/gate/k8s/nodes/`; Metropolis: `…/nodes/`

  [[nodiscard]] std::string status() const { return state + "status"; }
  /// Ours: that somebody led and may have written objects, and who.
  [[nodiscard]] std::string claim() const { return state + "claim"; }
  /// Ours: what the leader is at.
  [[nodiscard]] std::string progress() const { return state + "progress"; }
  /// Ours: the bytes of a status that nobody could read, by the revision that wrote it.
  [[nodiscard]] std::string quarantine(store::Revision revision) const;
  /// Ours: an operator keeps the objects as a release writes them.
  [[nodiscard]] std::string preserve() const { return state + "preserve"; }
  /// Ours: an operator keeps everybody from writing objects.
  [[nodiscard]] std::string pause() const { return state + "pause"; }
  /// Candidates are below it, as Go's concurrency package has them.
  [[nodiscard]] std::string election() const { return state + "leader"; }
  [[nodiscard]] std::string node(std::string_view name) const { return nodes + std::string(name); }
  friend bool operator==(const Layout&, const Layout&) = default;
};

/// The keys of the gate `gate` of agents that share the store `store`, where nobody says otherwise.
Layout layout_of(std::string_view store, std::string_view gate);
/// kInvalid: a prefix that is empty, or that the other begins with.
Result<void> check_sense(const Layout& layout);

/// Which process of which node a registration is of.
struct Identity {
  std::string node;
  std::string boot;  ///< which start of the machine it is; empty: that is not compared
};

/// What is under the key of the status: a state that nobody knows, a version or a minimum that is
/// missing are as unreadable as bytes that are no record.
judge::version_gate::Stored read_status(const std::optional<store::KeyValue>& key);

/// The record that says `status`. What a newer release has added to the record of before is kept.
std::string write_status(const judge::version_gate::Status& status, std::string_view before);

/// Which release is preserved, and by whom; nothing: none. A record that nobody can read preserves
/// a release that no node has.
std::optional<judge::version_gate::Hold> read_preserve(const std::optional<store::KeyValue>& key);
std::string write_preserve(const judge::version_gate::Release& release, std::string_view by);

/// Nothing: this node does not take part in the gate. A record that cannot be read is that of a
/// node whose release is not known.
std::optional<judge::version_gate::Member> read_member(std::string_view node,
                                                       std::string_view record);

/// How a registration compares with what this process wants it to be.
struct OwnRecord {
  enum class Kind : unsigned char {
    kAbsent,
    kOurs,   ///< as this process writes it
    kOther,  ///< somebody else's: another release or another start of a machine
    kBroken  ///< it has no release, no role, or cannot be read
  };
  Kind kind = Kind::kAbsent;
  std::string says{};  ///< kOther, kBroken: what it says, for people
};
OwnRecord compare(const std::optional<store::KeyValue>& key, const Identity& self,
                  const judge::version_gate::Release& release);

/// The registration. All that others keep in the record of before stays in it.
std::string write_node(const Identity& self, const judge::version_gate::Release& release,
                       std::string_view before);

}  // namespace wardmote::act::gate
