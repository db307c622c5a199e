#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"

namespace wardmote::cli {

/// The words of `calico-health` as Go's package flag reads them: `-name` and `--name` are alike,
/// `-name=false` is off, the last flag of a name counts, and the first word that is not a flag ends
/// the flags.
struct GoWords {
  std::vector<std::string> words;  ///< for our command line: `--name`, `--name=value`
  std::vector<std::string> extra;  ///< the words after the flags
  std::string error;               ///< in Go's words; empty when everything was understood
  bool help = false;               ///< -h or --help
  bool unknown = false;            ///< an unknown flag was given; `words` contains it as it is
};

/// `words` begin after the command. Knows our own flags beside Calico's.
GoWords from_go_flags(const std::vector<std::string>& words);

/// strconv.Atoi: an optional sign and digits.
std::optional<std::int64_t> parse_go_int(std::string_view text) noexcept;

/// A duration as Go's time.ParseDuration reads it: `30s`, `1m30s`, `1.5h`, `-2ms`, `0`. Nothing for
/// any other text, a number without a unit and overflow included.
std::optional<Duration> parse_go_duration(std::string_view text) noexcept;

/// What a program is asked to do under its name (argv[0]).
struct Invocation {
  std::vector<std::string> words;
  std::string hand_over;  ///< the program that has to do it instead; empty: this program
};

/// `calico-node …` and `calico component node health …` run calico-health when they ask for health
/// checks and nothing else. Every other command goes to the real program, which does much more than
/// health checks: `real`, or else the file of that name with `.real` appended. Under other names
/// this is wardmote.
Invocation invocation(std::string_view program, std::vector<std::string> words,
                      std::string_view real);

}  // namespace wardmote::cli
