#include "config/load.h"

#include <boost/json/serialize.hpp>
#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "config/config.h"
#include "config/effective.h"
#include "config/files.h"
#include "config/packed_text.h"
#include "config/problem.h"
#include "config/sections.h"
#include "config/sources.h"
#include "config/yaml.h"
#include "observe/kinds.h"
#include "runtime/runtime.h"

namespace wardmote::config {
namespace {

std::vector<std::string> described(Problems problems) {
  const std::vector<std::string> files = problems.files();
  std::vector<std::string> lines;
  for (const Problem& problem : std::move(problems).take())
    lines.push_back(describe(files.at(static_cast<std::size_t>(problem.at.file)), problem));
  return lines;
}

}  // namespace

Draft draft_config(Files& files, const Origin& origin, std::span<const observe::ProbeKind> kinds) {
  Draft draft;
  Sources sources = read_sources(files, origin.path, origin.overrides, draft.problems);
  draft.hash = std::move(sources.hash);
  draft.footprint = std::move(sources.footprint);
  draft.complete = sources.complete;
  draft.root = std::move(sources.root);
  if (draft.complete) draft.config = read_config(draft.root, kinds, draft.problems);
  if (draft.complete && draft.problems.empty())
    draft.shown = PackedText(boost::json::serialize(effective(draft.root, draft.config)));
  return draft;
}

Loaded finish_config(Draft draft, runtime::Runtime& runtime) {
  Loaded loaded;
  loaded.hash = std::move(draft.hash);
  loaded.footprint = std::move(draft.footprint);
  if (draft.complete) try_probes(draft.config, runtime, draft.problems);
  if (draft.complete && draft.problems.empty()) {
    loaded.shown = std::move(draft.shown);
    loaded.config = std::move(draft.config);
  }
  loaded.problems = described(std::move(draft.problems));
  return loaded;
}

Loaded load_config(Files& files, const Origin& origin, std::span<const observe::ProbeKind> kinds,
                   runtime::Runtime& runtime, YamlNode* tree) {
  Draft draft = draft_config(files, origin, kinds);
  if (tree != nullptr) *tree = std::move(draft.root);
  return finish_config(std::move(draft), runtime);
}

Footprint look_again(Files& files, const Footprint& footprint) {
  Footprint now;
  now.reserve(footprint.size());
  for (const auto& [path, stamp] : footprint) now.emplace_back(path, files.stamp(path));
  return now;
}

}  // namespace wardmote::config
