#pragma once

#include <string>
#include <string_view>

#include "base/time.h"

namespace wardmote::store {

/// Something that the agents which share a store tell each other besides what is wrong: a record
/// `agents/NODE/NAME` of each.
class SharedNote {
 public:
  SharedNote() = default;
  SharedNote(const SharedNote&) = delete;
  SharedNote& operator=(const SharedNote&) = delete;
  virtual ~SharedNote() = default;

  [[nodiscard]] virtual std::string_view name() const noexcept = 0;
  /// What this agent tells now.
  [[nodiscard]] virtual std::string told() const = 0;
  /// What another agent tells now; empty: nothing.
  virtual void hear(const std::string& node, const std::string& text, TimePoint now) = 0;
  /// Another agent is away. `last`: what it told before; empty: nothing is left of it.
  virtual void lose(const std::string& node, [[maybe_unused]] const std::string& last,
                    TimePoint now) {
    hear(node, "", now);
  }
  /// Two agents have this name, and each puts its word in the place of the other's; or so it seems,
  /// where an older copy of the store has what the agent wrote in an earlier life. `text`: what is
  /// there now.
  virtual void doubt([[maybe_unused]] const std::string& node,
                     [[maybe_unused]] const std::string& text, [[maybe_unused]] TimePoint now) {}
  /// Somebody may have something to tell, and nobody can hear it: who that is; empty: nobody.
  virtual void set_unheard([[maybe_unused]] const std::string& by) {}
};

}  // namespace wardmote::store
