#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace wardmote::judge::incident {

/// The name of a check in the graph: `check:bird`.
std::string check_node(std::string_view name);

/// What depends on what: a node carries a daemon, a daemon its sessions, a cluster its members.
/// When a thing fails, failures below it are consequences. Names are the caller's (`cluster:nb`,
/// `member:nb/ctl-2`, `check:bird`); an unknown name stands alone. A cycle does no harm: every
/// thing in it explains the others.
class Graph {
 public:
  /// `kind` is the kind by which storms are counted; `above` are the things that it depends on.
  void add(const std::string& name, std::string kind, std::vector<std::string> above = {});
  /// A part of a thing that was added, of the same kind and with incidents of its own: whoever
  /// counts things does not count it.
  void add_part(const std::string& name, std::string kind);

  /// There are so many things, by kind, not all of which were added: others watch them.
  void expect(std::map<std::string, std::size_t> things) { expected_ = std::move(things); }

  /// Everything above `name`, nearest first, without itself.
  [[nodiscard]] std::vector<std::string> above(const std::string& name) const;
  [[nodiscard]] bool is_above(const std::string& upper, const std::string& lower) const;
  /// Whether anything that was added depends on it.
  [[nodiscard]] bool contains(const std::string& name) const { return things_.contains(name); }
  [[nodiscard]] bool carries(std::string_view name) const { return uppers_.contains(name); }
  /// "" for a name that was not added.
  [[nodiscard]] std::string_view kind(const std::string& name) const;
  /// How many things of `kind` were added, without their parts, or are expected.
  [[nodiscard]] std::size_t population(std::string_view kind) const;

 private:
  struct Thing {
    std::string kind;
    std::vector<std::string> above;
  };
  std::map<std::string, Thing, std::less<>> things_;
  std::set<std::string, std::less<>> uppers_;
  std::map<std::string, std::size_t, std::less<>> population_;
  std::map<std::string, std::size_t> expected_;
};

}  // namespace wardmote::judge::incident
