#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace wardmote::codec {

/// The longest file that is read.
inline constexpr std::size_t kLargestNagiosFile = 4 << 20;

/// `define TYPE { name value … }`.
struct NagiosObject {
  std::string type;  ///< `host`, `service`, `command` …
  std::size_t line = 0;
  std::vector<std::pair<std::string, std::string>> directives;  ///< in their order
  friend bool operator==(const NagiosObject&, const NagiosObject&) = default;
};

/// `name=value` outside of definitions: of resource.cfg and nagios.cfg, and `include_file=`.
struct NagiosSetting {
  std::string name;
  std::string value;
  std::size_t line = 0;
  friend bool operator==(const NagiosSetting&, const NagiosSetting&) = default;
};

struct NagiosFile {
  std::vector<NagiosObject> objects;
  std::vector<NagiosSetting> settings;
  std::vector<std::size_t> broken;  ///< lines that are none of it
};

/// An object file, resource.cfg or nagios.cfg (xdata/xodtemplate.c
/// xodtemplate_process_config_file, Nagios 4.4–4.5): `#` begins a comment at the front of a line,
/// `;` anywhere unless it is `\;`, and a backslash at its end continues a line. kLimit: it is too
/// long. kInvalid: a zero byte, a definition within another, or one that does not end; with the
/// line.
Result<NagiosFile> parse_nagios_objects(std::string_view text);

}  // namespace wardmote::codec
