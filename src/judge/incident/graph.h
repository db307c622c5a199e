#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace wardmote::judge::incident {

/// What depends on what: a node carries a daemon, a daemon its sessions, a cluster its members.
/// When a thing fails, what fails below it is its consequence. Names are the caller's
/// (`cluster:nb`, `member:nb/ctl-2`, `check:bird`); a name that was not added stands alone. A cycle
/// does no harm: every thing in it explains the others.
class Graph {
 public:
  /// `kind` is what storms are counted by; `above` is what it depends on.
  void add(const std::string& name, std::string kind, std::vector<std::string> above = {});

  /// Everything above `name`, nearest first, without itself.
  [[nodiscard]] std::vector<std::string> above(const std::string& name) const;
  [[nodiscard]] bool is_above(const std::string& upper, const std::string& lower) const;
  /// "" when it was not added.
  [[nodiscard]] std::string_view kind(const std::string& name) const;
  /// How many things of `kind` were added.
  [[nodiscard]] std::size_t population(std::string_view kind) const;

 private:
  struct Thing {
    std::string kind;
    std::vector<std::string> above;
  };
  std::map<std::string, Thing, std::less<>> things_;
  std::map<std::string, std::size_t, std::less<>> population_;
};

}  // namespace wardmote::judge::incident
