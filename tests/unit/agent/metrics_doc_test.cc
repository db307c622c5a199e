// The tables of all metrics, the domains' too: their conventions, and their manual.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "agent/domains.h"
#include "serve/metrics/metrics.h"
#include "serve/thing_view.h"
#include "support/test_data.h"

namespace wardmote::agent {
namespace {

std::vector<serve::MetricInfo> all_metrics() {
  std::vector<serve::MetricInfo> all;
  for (const auto& table : serve::metrics_tables())
    all.insert(all.end(), table.begin(), table.end());
  for (const DomainRow& row : domains()) {
    if (row.family == nullptr) continue;
    all.insert(all.end(), row.family->metrics.begin(), row.family->metrics.end());
  }
  return all;
}

TEST(MetricsManual, HasEveryRowOfTheTablesWithItsHelp) {
  const auto path = std::filesystem::path(WARDMOTE_TEST_DATA) / "../../docs/metrics.md";
  std::ifstream file(path);
  const std::string manual{std::istreambuf_iterator<char>(file), {}};
  ASSERT_FALSE(manual.empty()) << path;
  for (const serve::MetricInfo& row : all_metrics()) {
    EXPECT_NE(manual.find("| `" + std::string(row.name) + "` |"), std::string::npos) << row.name;
    EXPECT_NE(manual.find("| " + std::string(row.help) + " |"), std::string::npos) << row.name;
  }
}

TEST(MetricsTables, FollowTheConventions) {
  std::set<std::string_view> names;
  for (const serve::MetricInfo& row : all_metrics()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name << " has two rows";
    EXPECT_TRUE(row.help.ends_with('.')) << row.name;
    EXPECT_EQ(row.help.find('\n'), std::string::npos) << row.name;
    if (row.type == serve::MetricType::kCounter) {
      EXPECT_TRUE(row.name.ends_with("_total")) << row.name;
    }
  }
}

}  // namespace
}  // namespace wardmote::agent
