#pragma once

#include <boost/json/value.hpp>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command.h"

namespace wardmote::cli {

/// How a verb prints, by `-o`.
enum class Format : std::uint8_t { kTable, kWide, kJson, kJsonLines, kYaml, kNames };

/// kTable when nothing was asked for.
Format format_of(const Call& call);
/// Whether a program reads it.
bool for_programs(Format format) noexcept;

/// The parts of an answer that stand for themselves.
struct Shape {
  /// The key of the list whose items they are; empty: the answer itself is the only one.
  std::string list = {};
  /// Their names, one for each; may be null when kNames is not offered.
  std::vector<std::string> (*names)(const boost::json::value& shown) = nullptr;
};

/// `key` of every item of `list`, a number in digits; `cluster/NAME` when the item has a cluster.
std::vector<std::string> names_in(const boost::json::value& shown, std::string_view list,
                                  std::string_view key);

/// `shown` in one of the formats for programs, with a line end; safe on a terminal.
std::string written(Format format, const boost::json::value& shown, const Shape& shape = {});

}  // namespace wardmote::cli
