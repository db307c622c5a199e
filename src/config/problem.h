#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace wardmote::config {

/// A place in one of the files; lines and columns count from one.
struct Place {
  int line = 1;
  int column = 1;
  int file = 0;  ///< index into the files that were read; 0 is the one that includes the others
  friend bool operator==(const Place&, const Place&) = default;
};

/// One thing that is wrong with a configuration. Texts are safe to print: what they quote is
/// escaped.
struct Problem {
  Place at;
  std::string what;  ///< `timeout 2.0s`
  std::string why;   ///< `longer than every (1.0s)`
  std::string fix;   ///< `write at most 1.0s`
  friend bool operator==(const Problem&, const Problem&) = default;
};

/// `wardmote.yaml:12:7: timeout 2.0s: longer than every (1.0s); write at most 1.0s`.
std::string describe(std::string_view file, const Problem& problem);

/// Collects problems; after a hundred they are only counted, since nobody reads more.
class Problems {
 public:
  /// Another file, by the name that messages call it; returns its index.
  int add_file(std::string name);
  /// By their index.
  [[nodiscard]] const std::vector<std::string>& files() const noexcept { return files_; }
  /// How a message at `here` names the line of `there`: `line 3`, or `conf.d/nb.yaml:3`.
  [[nodiscard]] std::string line_of(Place there, Place here) const;

  void add(Place at, std::string what, std::string why, std::string fix);
  [[nodiscard]] bool empty() const noexcept { return found_.empty(); }
  [[nodiscard]] std::size_t count() const noexcept { return found_.size() + dropped_; }
  /// In the order of the files.
  [[nodiscard]] std::vector<Problem> take() &&;

 private:
  std::vector<std::string> files_;
  std::vector<Problem> found_;
  std::size_t dropped_ = 0;
};

}  // namespace wardmote::config
