#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "serve/metrics/metrics.h"

namespace wardmote::serve {
namespace {

TEST(MetricsManual, HasEveryRowOfTheTableWithItsHelp) {
  const auto path = std::filesystem::path(WARDMOTE_TEST_DATA) / "../../docs/metrics.md";
  std::ifstream file(path);
  const std::string manual{std::istreambuf_iterator<char>(file), {}};
  ASSERT_FALSE(manual.empty()) << path;
  for (const MetricInfo& row : metrics_table()) {
    EXPECT_NE(manual.find("| `" + std::string(row.name) + "` |"), std::string::npos) << row.name;
    EXPECT_NE(manual.find("| " + std::string(row.help) + " |"), std::string::npos) << row.name;
  }
}

}  // namespace
}  // namespace wardmote::serve
