#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "base/text.h"

namespace wardmote::test {

/// That a page of the manual says what a table of the code says; with WARDMOTE_WRITE_DOCS it is
/// written first. Of a page that differs only the first such line is shown.
inline testing::AssertionResult is_written(const std::string& file, const std::string& expected) {
  if (std::getenv("WARDMOTE_WRITE_DOCS") != nullptr) std::ofstream(file) << expected;
  std::ifstream in(file);
  const std::string there{std::istreambuf_iterator<char>(in), {}};
  if (there == expected) return testing::AssertionSuccess();
  std::string_view page = there;
  std::string_view table = expected;
  for (;;) {
    const std::string_view said = take_until(page, '\n');
    const std::string_view meant = take_until(table, '\n');
    if (said == meant && !page.empty() && !table.empty()) continue;
    return testing::AssertionFailure()
           << file << " says\n    " << said << "\nand the code\n    " << meant
           << "\nRun this test once with WARDMOTE_WRITE_DOCS=1, and commit the page.";
  }
}

}  // namespace wardmote::test
