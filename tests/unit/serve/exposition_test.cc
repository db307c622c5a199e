#include "serve/metrics/exposition.h"

#include <cmath>

#include <gtest/gtest.h>

namespace wardmote::serve {
namespace {

constexpr MetricInfo kTable[] = {{"plain", MetricType::kGauge, "", "Help."},
                                 {"labelled_total", MetricType::kCounter, "a,b", "Help."},
                                 {"times", MetricType::kHistogram, "a", "Help."}};

void add(Exposition& out, Metric metric, std::initializer_list<std::string_view> values,
         double value) {
  out.add(metric, std::span(values.begin(), values.size()), value);
}

TEST(Exposition, WritesByMetricInTheOrderOfTheTable) {
  Exposition out({kTable});
  add(out, &kTable[1], {"x", "y"}, 2);
  add(out, &kTable[0], {}, 0.5);
  add(out, &kTable[1], {"x", "z"}, 9'007'199'254'740);
  EXPECT_EQ(out.text(),
            "# HELP plain Help.\n# TYPE plain gauge\nplain 0.5\n"
            "# HELP labelled_total Help.\n# TYPE labelled_total counter\n"
            "labelled_total{a=\"x\",b=\"y\"} 2\nlabelled_total{a=\"x\",b=\"z\"} 9007199254740\n");
}

TEST(Exposition, WritesTheWordsOfTheFormatForWhatIsNoNumber) {
  Exposition out({kTable});
  add(out, &kTable[1], {"a", "nan"}, std::nan(""));
  add(out, &kTable[1], {"a", "inf"}, INFINITY);
  EXPECT_NE(out.text().find("} NaN\n"), std::string::npos);
  EXPECT_NE(out.text().find("} +Inf\n"), std::string::npos);
}

TEST(Exposition, EscapesLabelsSoThatNoneCanForgeALine) {
  Exposition out({kTable});
  add(out, &kTable[1], {"quote\" slash\\ line\nend", std::string(10'000, 'x')}, 1);
  const std::string text = out.text();
  EXPECT_NE(text.find("a=\"quote\\\" slash\\\\ line\\\\nend\""), std::string::npos) << text;
  EXPECT_LT(text.size(), 500U);
}

TEST(Exposition, DropsASecondSampleWithTheSameLabels) {
  Exposition out({kTable});
  add(out, &kTable[1], {"x", "y"}, 1);
  add(out, &kTable[1], {"x", "y"}, 2);
  EXPECT_EQ(out.text().find("} 2"), std::string::npos);
}

TEST(Exposition, CumulatesTheBucketsOfAHistogram) {
  Exposition out({kTable});
  const std::string_view values[] = {"x"};
  const double bounds[] = {0.001, 1};
  const std::uint64_t counts[] = {2, 3, 1};
  out.add_histogram(&kTable[2], values, bounds, counts, 7.5);
  EXPECT_EQ(
      out.text(),
      "# HELP times Help.\n# TYPE times histogram\n"
      "times_bucket{a=\"x\",le=\"0.001\"} 2\ntimes_bucket{a=\"x\",le=\"1\"} 5\n"
      "times_bucket{a=\"x\",le=\"+Inf\"} 6\ntimes_sum{a=\"x\"} 7.5\ntimes_count{a=\"x\"} 6\n");
}

}  // namespace
}  // namespace wardmote::serve
