#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "config/files.h"
#include "config/sources.h"
#include "runtime/tls.h"

namespace wardmote::daemon {

enum class ConfigVerb : std::uint8_t { kCheck, kFormat, kShow, kDiff, kImport, kSchema };

/// `wardmoted config VERB`.
struct ConfigOrder {
  ConfigVerb verb = ConfigVerb::kCheck;
  std::vector<std::string> files;  ///< one; two for kDiff, any for kImport, none for kSchema
  bool effective = false;          ///< of kShow: with every default
  bool write = false;              ///< of kFormat: into the file
};

/// What to print, and what to end with.
struct ConfigAnswer {
  int exit_code = 0;   ///< 0; 1 when kDiff finds something; 65 for a bad file
  std::string output;  ///< for standard output
  std::string errors;  ///< for standard error
};

/// kCheck tries what a start tries; certificates only when `tls` is given.
ConfigAnswer run_config(const ConfigOrder& order, config::Files& files,
                        const config::Environment& overrides, runtime::TlsLayer* tls = nullptr);

}  // namespace wardmote::daemon
