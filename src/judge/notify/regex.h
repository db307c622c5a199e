#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace wardmote::judge::notify {

/// A POSIX extended regular expression that must match a whole text, as in Prometheus. Counts
/// (`{2}`) and back references are refused, because with them a short pattern can take gigabytes or
/// hours; what only other dialects know (`\d`, `(?i)`) is refused too, because POSIX would read it
/// as something else. Copies share what was compiled.
class Regex {
 public:
  /// kInvalid says what is wrong.
  static Result<Regex> compile(std::string_view pattern);

  [[nodiscard]] bool matches(std::string_view text) const;
  [[nodiscard]] const std::string& pattern() const noexcept { return pattern_; }
  friend bool operator==(const Regex& a, const Regex& b) { return a.pattern_ == b.pattern_; }

 private:
  struct Compiled;
  Regex(std::string_view pattern, std::shared_ptr<const Compiled> compiled);

  std::string pattern_;
  std::shared_ptr<const Compiled> compiled_;
};

}  // namespace wardmote::judge::notify
