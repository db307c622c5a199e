#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "config/config.h"
#include "config/files.h"
#include "config/packed_text.h"
#include "config/problem.h"
#include "config/sources.h"
#include "config/yaml.h"
#include "observe/kinds.h"
#include "runtime/runtime.h"

namespace wardmote::config {

/// Where a configuration is.
struct Origin {
  std::string path;
  Environment overrides;
};

/// A configuration from files: whole, or everything that is wrong with it.
struct Loaded {
  std::optional<Config> config;
  std::vector<std::string> problems;  ///< with their places, safe to print; empty with a config
  PackedText shown;                   ///< config::effective() of it as JSON; empty without a config
  std::string hash;  ///< of what was read; 16 hexadecimal digits, empty when nothing could be read
  Footprint footprint;
};

/// What the files say, and what is wrong with it, before any probe was made.
struct Draft {
  Config config;
  Problems problems;
  bool complete = false;  ///< the files could be read
  PackedText shown;       ///< as Loaded has it
  std::string hash;
  Footprint footprint;
  YamlNode root;
};

/// The long part of load_config(). Thread: any.
Draft draft_config(Files& files, const Origin& origin, std::span<const observe::ProbeKind> kinds);
/// The rest of it: probes are made of the parameters.
Loaded finish_config(Draft draft, runtime::Runtime& runtime);

/// Reads and checks everything that can be checked without looking at anything. `tree`, if given,
/// gets what the files say.
Loaded load_config(Files& files, const Origin& origin, std::span<const observe::ProbeKind> kinds,
                   runtime::Runtime& runtime, YamlNode* tree = nullptr);

/// The same files and folders, as they are now.
Footprint look_again(Files& files, const Footprint& footprint);

}  // namespace wardmote::config
