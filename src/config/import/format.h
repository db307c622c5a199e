#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace wardmote::config {

/// What became of a configuration of another program.
struct Imported {
  std::string yaml;                ///< a configuration of the agent, which it accepts
  std::vector<std::string> notes;  ///< what could not be translated, and what is left to do
};

/// A kind of file that `wardmote config import` reads. Pure.
struct ImportFormat {
  std::string_view name;  ///< `masakari`
  std::string_view what;  ///< for people: `masakarimonitors.conf of Masakari's monitors`
  /// Whether the text looks like one.
  bool (*recognises)(std::string_view text);
  /// kLimit, or kInvalid when it is none after all.
  Result<Imported> (*translate)(std::string_view text);
};

/// The table of all formats. A new one is a file that translates, and a row here.
std::span<const ImportFormat> import_formats() noexcept;
/// Null: no format fits.
const ImportFormat* import_format_of(std::string_view text);

}  // namespace wardmote::config
