#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "judge/version_gate/release.h"

namespace wardmote::judge::version_gate {

/// As in store/store.h: each change of the store makes the next revision. 0: none.
using Revision = std::int64_t;

/// What the nodes of a gate know of the reconciled state (Metropolis, KubernetesReconcilerStatus).
/// While the state is kWorking, objects of before and of after exist side by side.
struct Status {
  enum class State : std::uint8_t { kDone, kWorking };
  State state = State::kDone;
  Release version;      ///< all objects were written by this release or a newer one
  Release minimum;      ///< nodes of an older release do not work with the objects
  std::string content;  ///< kDone: the digest of what was reconciled, if the writer gave one
  friend bool operator==(const Status&, const Status&) = default;
};

/// What is under the key of the status.
struct Stored {
  enum class Kind : std::uint8_t {
    kAbsent,
    kUnreadable,  ///< malformed, or without one of its parts: never taken for absent
    kReadable,
  };
  Kind kind = Kind::kAbsent;
  Status status{};       ///< kReadable
  std::string why{};     ///< kUnreadable: what is wrong with it, escaped
  Revision changed = 0;  ///< the revision of the last change; 0 if absent
  friend bool operator==(const Stored&, const Stored&) = default;
};

/// One release of the product that a gate guards: what it writes when it leads, and with which
/// objects it works when it serves.
struct Product {
  Release release;
  /// minReconcilerRelease: it serves only on objects of this release or a newer one.
  Release min_reconciler_release;
  /// minApiserverRelease: what it writes needs nodes of this release or a newer one.
  Release min_apiserver_release;
  std::string content;  ///< the digest of the objects that it writes; builds may differ in it
  friend bool operator==(const Product&, const Product&) = default;
};

/// kInvalid: a product that asks for more than itself, so that it could neither lead nor serve.
Result<void> check_sense(const Product& product);

}  // namespace wardmote::judge::version_gate
