#include "config/problem.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/format.h"

namespace wardmote::config {
namespace {

constexpr std::size_t kMostProblems = 100;

}  // namespace

std::string describe(std::string_view file, const Problem& problem) {
  return fmt::format("{}:{}:{}: {}: {}; {}", file, problem.at.line, problem.at.column, problem.what,
                     problem.why, problem.fix);
}

int Problems::add_file(std::string name) {
  files_.push_back(std::move(name));
  return static_cast<int>(files_.size()) - 1;
}

std::string Problems::line_of(Place there, Place here) const {
  if (there.file == here.file) return fmt::format("line {}", there.line);
  return fmt::format("{}:{}", files_.at(static_cast<std::size_t>(there.file)), there.line);
}

void Problems::add(Place at, std::string what, std::string why, std::string fix) {
  if (found_.size() == kMostProblems) {
    ++dropped_;
    return;
  }
  found_.push_back({at, std::move(what), std::move(why), std::move(fix)});
}

std::vector<Problem> Problems::take() && {
  std::ranges::sort(found_, {}, [](const Problem& p) {
    return std::tie(p.at.file, p.at.line, p.at.column, p.what);
  });
  if (dropped_ > 0) {
    found_.push_back({found_.back().at, fmt::format("{} more", dropped_), "too many to list",
                      "mend the ones above first"});
  }
  return std::move(found_);
}

}  // namespace wardmote::config
