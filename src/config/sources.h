#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "config/files.h"
#include "config/problem.h"
#include "config/yaml.h"

namespace wardmote::config {

/// The files and folders that a configuration was read from, as they were just before.
using Footprint = std::vector<std::pair<std::string, std::optional<FileStamp>>>;

/// Variables of the environment by name.
using Environment = std::vector<std::pair<std::string, std::string>>;

/// Those that override the configuration: WARDMOTE_NODE_… and WARDMOTE_API_…, sorted. Without the
/// service links.
Environment overrides_of(const char* const* environment);

/// The names of variables that Kubernetes sets for a service named `wardmote-api` or
/// `wardmote-node`: no key is meant by them.
std::vector<std::string> service_links(const char* const* environment);

/// A configuration as its files have it.
struct Sources {
  YamlNode root;          ///< of all files together; no `include` is left in it
  bool complete = false;  ///< if not, problems say why
  std::string hash;       ///< of what was read; 16 hexadecimal digits, empty when nothing was
  Footprint footprint;
};

/// Reads the file at `path` and what it includes, then lets `overrides` replace keys.
/// `include: [conf.d/*.yaml]` stands at the top of any file; paths are relative to its folder, and
/// the last part may have `*` and `?`, which match no leading dot. A path without them must exist.
/// `clusters`, `checks` and `silences` are appended, `gates` added; what else stands at the top may
/// do so in one file only. A file that is included twice, by itself or by two others, is a problem.
/// WARDMOTE_API_LISTEN=… is `listen` in `api`, and so on for the keys of `node` and `api` that hold
/// one value.
Sources read_sources(Files& files, const std::string& path, const Environment& overrides,
                     Problems& problems);

}  // namespace wardmote::config
