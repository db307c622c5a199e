#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "agent/config/config.h"
#include "agent/config/files.h"
#include "observe/kinds.h"
#include "runtime/runtime.h"

namespace wardmote::agent::config {

/// The files that a configuration was read from, as they were just before.
using Footprint = std::vector<std::pair<std::string, std::optional<FileStamp>>>;

/// A configuration from files: whole, or everything that is wrong with it.
struct Loaded {
  std::optional<Config> config;
  std::vector<std::string> problems;  ///< with their places, safe to print; empty with a config
  std::string hash;  ///< of what was read; 16 hexadecimal digits, empty when nothing could be read
  Footprint footprint;
};

/// Reads and checks everything that can be checked without looking at anything.
Loaded load_config(Files& files, const std::string& path, std::span<const observe::ProbeKind> kinds,
                   runtime::Runtime& runtime);

/// The same files, as they are now.
Footprint look_again(Files& files, const Footprint& footprint);

}  // namespace wardmote::agent::config
