#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "judge/reconcile/fence.h"

namespace wardmote::judge::reconcile {

/// Whose an object is that a manifest wants and that the set may not write.
struct ForeignObject {
  std::string uid;
  std::vector<std::string> managers;  ///< of its fields, escaped
  std::string refusal{};              ///< why it must not be taken over; empty: it may, on order
};

/// What came of one object in a pass, or would come of it.
struct ObjectReport {
  enum class Action : std::uint8_t {
    kUnchanged,
    kCreated,
    kChanged,
    kRecreated,  ///< a field could not be changed, so it was deleted and created
    kPruned,
    kLeft,    ///< a policy, or somebody else's deletion, keeps it from being touched
    kFailed,  ///< it is not as it should be, or not known to be
  };
  std::string object;  ///< `ConfigMap kube-system/settings`, or the path of a file
  Action action = Action::kUnchanged;
  std::string why{};    ///< for people, escaped; without values
  std::string diff{};   ///< unified, without secrets; empty: nothing differs, or nobody asked
  std::string words{};  ///< a server's own: they may quote values, of Secrets never; escaped
  std::optional<ForeignObject> foreign{};  ///< it waits for somebody who orders to take it over
};

/// `created`, for people and programs.
std::string_view to_string(ObjectReport::Action action) noexcept;

/// One pass over the whole set.
struct PassReport {
  bool dry = true;  ///< nothing was written: this is what would be
  WallTime begun;
  Duration took{};
  std::string source{};      ///< what said what should be there, and which state of it; escaped
  std::size_t objects = 0;   ///< desired ones
  std::size_t requests = 0;  ///< to the server
  std::size_t writes = 0;    ///< requests that could change something
  /// All but those that are unchanged, in the order of the pass.
  std::vector<ObjectReport> touched;
  std::vector<std::string> faults;  ///< what is wrong with the pass as a whole, escaped
  std::string prune_refused{};      ///< why nothing was pruned; empty: nothing was in the way

  FenceReport fence{};        ///< what keeps an earlier leader from writing
  std::size_t conflicts = 0;  ///< objects of which others own fields that the set wants
  bool fenced = false;        ///< the server refused a write: a later leader has raised the fence

  bool unreachable = false;    ///< nobody answered, so nothing is known
  bool contradictory = false;  ///< the manifests cannot all be meant, so nothing was written
  bool no_login = false;       ///< the kubeconfig, or a file that it names, cannot be read

  /// Everything is as it should be, or was made so.
  [[nodiscard]] bool good() const;
  /// Something was changed, or would be.
  [[nodiscard]] bool differs() const;
};

/// What came of all passes that could write, since the agent began.
struct Tally {
  std::uint64_t good = 0;    ///< passes
  std::uint64_t failed = 0;  ///< passes
  std::uint64_t writes = 0;
  std::uint64_t conflicts = 0;
  std::uint64_t fenced = 0;
  std::optional<WallTime> last_good;                      ///< when it ended
  std::map<ObjectReport::Action, std::uint64_t> objects;  ///< but for those unchanged

  void add(const PassReport& report);
};

/// How far a pass that is under way has come.
struct PassProgress {
  WallTime begun;
  std::size_t treated = 0;  ///< of the objects
  std::size_t objects = 0;  ///< desired ones; 0: it is not known yet how many
};

/// `12 objects: 1 created, 2 changed, 9 unchanged`, with what is wrong first.
std::string summary_of(const PassReport& report);

}  // namespace wardmote::judge::reconcile
