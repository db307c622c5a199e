#include "agent/config/load.h"

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "agent/config/config.h"
#include "agent/config/files.h"
#include "agent/config/problem.h"
#include "agent/config/yaml.h"
#include "base/format.h"
#include "base/hash.h"
#include "observe/kinds.h"
#include "runtime/runtime.h"

namespace wardmote::agent::config {
namespace {

std::vector<std::string> described(const std::string& path, const std::vector<Problem>& problems) {
  std::vector<std::string> lines;
  lines.reserve(problems.size());
  for (const Problem& problem : problems) lines.push_back(describe(path, problem));
  return lines;
}

}  // namespace

Loaded load_config(Files& files, const std::string& path, std::span<const observe::ProbeKind> kinds,
                   runtime::Runtime& runtime) {
  Loaded loaded;
  // First: what changes while it is read must show as changed afterwards.
  loaded.footprint.emplace_back(path, files.stamp(path));
  const auto bytes = files.read(path, YamlLimits{}.bytes);
  if (!bytes) {
    loaded.problems.push_back(
        fmt::format("{}: cannot be read: {}; check the path and its access "
                    "rights",
                    path, bytes.error().context));
    return loaded;
  }
  loaded.hash = fmt::format("{:016x}", fnv1a(*bytes));
  auto config = parse_config(*bytes, kinds);
  if (!config) {
    loaded.problems = described(path, config.error());
    return loaded;
  }
  loaded.problems = described(path, try_probes(*config, runtime));
  if (loaded.problems.empty()) loaded.config = *std::move(config);
  return loaded;
}

Footprint look_again(Files& files, const Footprint& footprint) {
  Footprint now;
  now.reserve(footprint.size());
  for (const auto& [path, stamp] : footprint) now.emplace_back(path, files.stamp(path));
  return now;
}

}  // namespace wardmote::agent::config
