#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace wardmote::codec {

/// The longest file that is read.
inline constexpr std::size_t kLargestOsloConfig = 1 << 20;

/// `name = value` below `[group]`, as oslo.config reads it.
struct OsloOption {
  std::string group;
  std::string name;
  std::string value;  ///< without quotes around it; lines of a continued value are joined by blanks
  std::size_t line = 0;
  friend bool operator==(const OsloOption&, const OsloOption&) = default;
};

/// A configuration file of an OpenStack service. Nothing is interpreted: `$name` stays.
struct OsloConfig {
  std::vector<OsloOption> options;  ///< in their order; the last one of a name counts
  std::vector<std::size_t> broken;  ///< lines that are neither option, group nor comment
};

/// kLimit: it is too long. Lines that cannot be read are counted and passed over
/// (oslo_config/iniparser.py: a comment begins in the first column, and so does an option).
Result<OsloConfig> parse_oslo_config(std::string_view text);

/// Null: it is not set. `group` and `name` as they are spelled there.
const OsloOption* find_option(const OsloConfig& config, std::string_view group,
                              std::string_view name) noexcept;

}  // namespace wardmote::codec
