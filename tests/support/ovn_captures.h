#pragma once
// Answers of real ovsdb-servers (tests/data/ovn), cut out of the transcripts that hold them.

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "base/text.h"
#include "support/test_data.h"

namespace wardmote::testing {

inline std::string read_capture(std::string_view name) {
  const std::filesystem::path path = std::filesystem::path(WARDMOTE_TEST_DATA) / "ovn" / name;
  std::ifstream file(path, std::ios::binary);
  check(file.is_open(), "no capture " + path.string());
  return {std::istreambuf_iterator<char>(file), {}};
}

inline std::vector<std::string> capture_names() {
  std::vector<std::string> names;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::filesystem::path(WARDMOTE_TEST_DATA) / "ovn")) {
    names.push_back(entry.path().filename().string());
  }
  return names;
}

/// Every `cluster/status` text in a transcript: from the line above `Name:` to the last line of its
/// servers.
inline std::vector<std::string> statuses_in(std::string_view transcript) {
  std::vector<std::string> statuses;
  std::string_view previous;
  bool inside = false;
  bool servers = false;
  for (std::string_view rest = transcript; !rest.empty();) {
    const std::string_view line = take_until(rest, '\n');
    if (line.starts_with("Name: ")) {
      statuses.push_back(std::string(previous) + "\n");
      inside = true;
      servers = false;
    } else if (inside && servers && !line.starts_with("    ")) {
      inside = false;
    }
    if (inside) statuses.back().append(line).append("\n");
    if (line == "Servers:") servers = true;
    previous = line;
  }
  return statuses;
}

inline std::vector<std::string> statuses_of(std::string_view capture) {
  return statuses_in(read_capture(capture));
}

/// The lines of a transcript that begin with `marker`, without it.
inline std::vector<std::string> lines_after(std::string_view capture, std::string_view marker) {
  std::vector<std::string> lines;
  const std::string transcript = read_capture(capture);
  for (std::string_view rest = transcript; !rest.empty();) {
    std::string_view line = take_until(rest, '\n');
    if (consume_prefix(line, marker)) lines.emplace_back(line);
  }
  return lines;
}

}  // namespace wardmote::testing
