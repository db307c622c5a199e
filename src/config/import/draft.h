#pragma once

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <chrono>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "config/import/format.h"

namespace wardmote::config {

/// Where something stands in the files that are imported.
struct ForeignPlace {
  std::size_t file = 0;
  std::size_t line = 0;  ///< counted from one; 0: the file as a whole
};

/// A check that an importer has made.
struct ImportedCheck {
  std::string name;  ///< what it is called there; the agent's name is made of it
  std::string kind;
  boost::json::object params;
  std::optional<std::chrono::milliseconds> every = std::nullopt;  ///< absent: the agent's default
  std::optional<std::chrono::milliseconds> timeout = std::nullopt;
  std::optional<int> fall = std::nullopt;
  std::optional<int> rise = std::nullopt;
  bool optional = false;
};

/// A configuration of checks and receivers as it grows, and what is said about it. It takes only
/// what the agent accepts, so that the result is accepted.
class ImportDraft {
 public:
  /// `files` outlive the draft; their names are in notes when there are several.
  explicit ImportDraft(std::span<const ForeignFile> files) : files_(files) {}

  /// `line 3: WHAT: SAYS`. What a note repeats of a file is escaped and cut.
  void say(ForeignPlace at, std::string_view what, std::string_view says);
  /// Of the whole; the same one is said once.
  void say(std::string_view says);

  /// The name of the check in the configuration; nothing, after a note, when the agent would refuse
  /// it, or it may hold a password. `every` and `timeout` are brought into the agent's limits, with
  /// a note when that makes it look less often.
  std::optional<std::string> add_check(ForeignPlace at, ImportedCheck check);
  /// Both are names that add_check() has returned. What would go in a circle is left out by
  /// finish(), with a note.
  void depend(std::string_view check, std::string_view above);
  /// A receiver `{name: …, TYPE: …}`.
  void add_receiver(std::string_view name, std::string_view type, boost::json::object options);
  /// Any other section.
  boost::json::object& root() noexcept { return root_; }

  [[nodiscard]] std::size_t checks() const noexcept { return checks_.size(); }
  /// kLimit: more than one agent can take. kInvalid: there is nothing in it.
  Result<Imported> finish() &&;

 private:
  /// Names that differ from each other.
  struct Names {
    std::set<std::string, std::less<>> taken;
    std::map<std::string, std::size_t, std::less<>> next;  ///< number behind one that was taken
    std::string fresh(std::string_view wanted);
  };

  void make_time(ForeignPlace at, ImportedCheck& check);
  [[nodiscard]] std::map<std::string_view, std::size_t> in_circles() const;
  void join_dependencies();

  std::span<const ForeignFile> files_;
  boost::json::object root_;
  boost::json::array checks_;
  boost::json::array receivers_;
  std::map<std::string, std::set<std::string>, std::less<>> above_;  ///< by the name of a check
  Names check_names_;
  Names receiver_names_;
  std::vector<std::string> notes_;
  std::set<std::string, std::less<>> said_;
  std::size_t unsaid_ = 0;
};

}  // namespace wardmote::config
