#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace wardmote::codec {

/// The longest file that is read.
inline constexpr std::size_t kLargestMonitFile = 1 << 20;

/// A word of a control file.
struct MonitWord {
  std::string text;    ///< without quotes
  char quote = '\0';   ///< around it; none: it may be a keyword
  bool glued = false;  ///< no white space stands between it and the word before it
  std::size_t line = 0;
  [[nodiscard]] bool quoted() const { return quote != '\0'; }
  friend bool operator==(const MonitWord&, const MonitWord&) = default;
};

/// What begins with `set` or `check`, up to the next of them.
struct MonitStatement {
  std::vector<MonitWord> words;
  friend bool operator==(const MonitStatement&, const MonitStatement&) = default;
};

struct MonitFile {
  std::vector<MonitStatement> statements;
  std::vector<MonitWord> includes;  ///< patterns of files; they may stand within a statement
};

/// A control file of Monit 5 (monit(1), "The Monit control file"): words between white space, texts
/// in single or double quotes, `#` to the end of a line; commas, braces and comparisons are words
/// of their own. Words before the first statement make a statement too. kLimit: it is too long.
/// kInvalid: a zero byte, or a quote that does not end; with the line.
Result<MonitFile> parse_monit_control(std::string_view text);

}  // namespace wardmote::codec
