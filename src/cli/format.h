#pragma once

#include <boost/json/value.hpp>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command.h"

namespace wardmote::cli {

/// The output format of a command, by `-o`.
enum class Format : std::uint8_t { kTable, kWide, kJson, kJsonLines, kYaml, kNames };

/// kTable when nothing was asked for.
Format format_of(const Call& call);
/// Whether the format is for programs.
bool for_programs(Format format) noexcept;

/// The items of an answer.
struct Shape {
  /// The key of the list with the items; empty: the answer itself is the only item.
  std::string list = {};
  /// Their names, one for each; may be null when kNames is not offered.
  std::function<std::vector<std::string>(const boost::json::value& shown)> names = nullptr;
};

/// `key` of every item of `list`, a number in digits; `CLUSTER/NAME` when the item is of a cluster.
std::vector<std::string> names_in(const boost::json::value& shown, std::string_view list,
                                  std::string_view key);

/// `shown` in one of the formats for programs, with a line end; safe on a terminal.
std::string written(Format format, const boost::json::value& shown, const Shape& shape = {});

}  // namespace wardmote::cli
