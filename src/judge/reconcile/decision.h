#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "judge/reconcile/object_id.h"
#include "judge/reconcile/policy.h"

namespace wardmote::judge::reconcile {

/// An object as the server has it, as far as decisions need it.
struct LiveObject {
  ObjectId id;
  std::string set;             ///< the value of kSetLabel; empty: it has none
  bool applied_by_us = false;  ///< our field manager has applied fields of it
  bool keeps = false;          ///< it asks not to be pruned
  bool deleting = false;
  std::string deleting_since{};  ///< as the server says it, if it does
  /// The definition of a kind: what its objects are called. Empty: it is none, or nobody can read
  /// it.
  std::vector<std::string> defines{};
};

/// `, since ` this moment, which a server said; nothing where it said none.
std::string since(std::string_view moment);

/// Whether a live object is a member of `set`. A label alone is not enough: whoever may label an
/// object could have it deleted.
bool is_member(const LiveObject& live, std::string_view set);

/// What is done about an object of the desired set.
struct Decision {
  enum class Kind : std::uint8_t {
    kCreate,     ///< it is not there
    kApply,      ///< it differs, or may differ
    kUnchanged,  ///< all that we want is so
    kLeave,      ///< its policy says so
    kRefuse      ///< it must not be written; `why` says what to do
  };
  Kind kind = Kind::kUnchanged;
  std::string why{};  ///< of kLeave and kRefuse
  friend bool operator==(const Decision&, const Decision&) = default;
};

/// `live`: nothing, if there is no such object. `matches`: all that the manifest says is so, and
/// was applied in this form.
Decision decide(std::string_view set, const Policy& policy, const std::optional<LiveObject>& live,
                bool matches);

}  // namespace wardmote::judge::reconcile
