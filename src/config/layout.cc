#include "config/layout.h"

#include <cstddef>
#include <expected>
#include <string>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "config/problem.h"
#include "config/yaml.h"

namespace wardmote::config {
namespace {

std::string laid_out(std::string_view bytes) {
  std::string text;
  std::size_t empty = 0;  // lines since the last that holds something
  while (!bytes.empty()) {
    std::string_view line = take_until(bytes, '\n');
    line = line.substr(0, line.find_last_not_of(" \t\r") + 1);
    if (line.empty()) {
      ++empty;
      continue;
    }
    if (empty > 0 && !text.empty()) text += '\n';
    empty = 0;
    text += line;
    text += '\n';
  }
  return text;
}

}  // namespace

std::expected<std::string, Problem> lay_out(std::string_view bytes) {
  Problems problems;
  const YamlDocument before = parse_yaml(bytes, {}, problems);
  if (!problems.empty()) return std::unexpected(std::move(problems).take().front());
  std::string text = laid_out(bytes);
  const YamlDocument after = parse_yaml(text, {}, problems);
  if (after.complete && same_content(before.root, after.root)) return text;
  return std::unexpected(Problem{{},
                                 "layout",
                                 "a text of several lines would change its meaning",
                                 "write it in quotes on one line"});
}

}  // namespace wardmote::config
