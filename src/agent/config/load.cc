#include "agent/config/load.h"

#include <boost/json/serialize.hpp>
#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "agent/config/config.h"
#include "agent/config/effective.h"
#include "agent/config/files.h"
#include "agent/config/problem.h"
#include "agent/config/sections.h"
#include "agent/config/sources.h"
#include "agent/config/yaml.h"
#include "observe/kinds.h"
#include "runtime/runtime.h"

namespace wardmote::agent::config {
namespace {

std::vector<std::string> described(Problems problems) {
  const std::vector<std::string> files = problems.files();
  std::vector<std::string> lines;
  for (const Problem& problem : std::move(problems).take())
    lines.push_back(describe(files.at(static_cast<std::size_t>(problem.at.file)), problem));
  return lines;
}

}  // namespace

Loaded load_config(Files& files, const Origin& origin, std::span<const observe::ProbeKind> kinds,
                   runtime::Runtime& runtime, YamlNode* tree) {
  Problems problems;
  Sources sources = read_sources(files, origin.path, origin.overrides, problems);
  Loaded loaded;
  loaded.hash = std::move(sources.hash);
  loaded.footprint = std::move(sources.footprint);
  if (sources.complete) {
    Config config = read_config(sources.root, kinds, problems);
    if (problems.empty()) try_probes(config, runtime, problems);
    if (problems.empty()) {
      loaded.shown = boost::json::serialize(effective(sources.root, config));
      loaded.config = std::move(config);
    }
  }
  if (tree != nullptr) *tree = std::move(sources.root);
  loaded.problems = described(std::move(problems));
  return loaded;
}

Footprint look_again(Files& files, const Footprint& footprint) {
  Footprint now;
  now.reserve(footprint.size());
  for (const auto& [path, stamp] : footprint) now.emplace_back(path, files.stamp(path));
  return now;
}

}  // namespace wardmote::agent::config
