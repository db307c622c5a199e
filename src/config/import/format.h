#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace wardmote::config {

/// A file of another program.
struct ForeignFile {
  std::string name;  ///< for messages
  std::string text;
};

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
  /// All files together: what one of them names may be in another. kLimit, or kInvalid when a file
  /// is none of this kind after all.
  Result<Imported> (*translate)(std::span<const ForeignFile> files);
};

/// The table of all formats. A new one is a file that translates, and a row here.
std::span<const ImportFormat> import_formats() noexcept;
/// Null: no format fits.
const ImportFormat* import_format_of(std::string_view text);
/// By the first file that is recognised. kInvalid: none is, or two are of different formats.
Result<Imported> import_files(std::span<const ForeignFile> files);

}  // namespace wardmote::config
