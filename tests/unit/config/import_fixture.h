#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/config.h"
#include "config/import/format.h"
#include "config/problem.h"
#include "net/asio_runtime.h"
#include "observe/kinds.h"

namespace wardmote::config {

inline std::string read_whole(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// What the agent makes of it, its probes too.
inline Config accepted(const Imported& made) {
  auto config = parse_config(made.yaml, observe::probe_kinds());
  EXPECT_TRUE(config) << made.yaml;
  if (!config) return {};
  net::AsioRuntime runtime;
  Problems problems;
  try_probes(*config, runtime, problems);
  for (const Problem& problem : std::move(problems).take())
    ADD_FAILURE() << describe("made", problem) << "\n" << made.yaml;
  return *std::move(config);
}

inline bool says(const Imported& made, std::string_view what) {
  return std::ranges::any_of(made.notes,
                             [&](const std::string& one) { return one.contains(what); });
}

inline std::string all_notes(const Imported& made) {
  std::string all;
  for (const std::string& note : made.notes) all += note + "\n";
  return all;
}

/// By import_files(), as the command does.
inline Imported import_texts(const std::vector<std::pair<std::string, std::string>>& texts) {
  std::vector<ForeignFile> files;
  for (const auto& [name, text] : texts) files.push_back({name, text});
  const auto made = import_files(files);
  EXPECT_TRUE(made) << made.error().describe();
  return made.value_or(Imported());
}

inline Imported import_text(const std::string& text) {
  return import_texts({{"file", text}});
}

/// The error of it.
inline Error refused(const std::vector<std::pair<std::string, std::string>>& texts) {
  std::vector<ForeignFile> files;
  for (const auto& [name, text] : texts) files.push_back({name, text});
  const auto made = import_files(files);
  EXPECT_FALSE(made) << made->yaml;
  return made ? Error() : made.error();
}

}  // namespace wardmote::config
