#include "serve/metrics/exposition.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>

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

std::string text_of(Exposition& out) {
  while (out.forget_some()) {
  }
  std::string text;
  out.move_to(text);
  return text;
}

TEST(Exposition, WritesByMetricInTheOrderOfTheTable) {
  Exposition out({kTable});
  add(out, &kTable[1], {"x", "y"}, 2);
  add(out, &kTable[0], {}, 0.5);
  add(out, &kTable[1], {"x", "z"}, 9'007'199'254'740);
  EXPECT_EQ(text_of(out),
            "# HELP plain Help.\n# TYPE plain gauge\nplain 0.5\n"
            "# HELP labelled_total Help.\n# TYPE labelled_total counter\n"
            "labelled_total{a=\"x\",b=\"y\"} 2\nlabelled_total{a=\"x\",b=\"z\"} 9007199254740\n");
}

TEST(Exposition, WritesTheWordsOfTheFormatForWhatIsNoNumber) {
  Exposition out({kTable});
  add(out, &kTable[1], {"a", "nan"}, std::nan(""));
  add(out, &kTable[1], {"a", "inf"}, INFINITY);
  const std::string text = text_of(out);
  EXPECT_NE(text.find("} NaN\n"), std::string::npos);
  EXPECT_NE(text.find("} +Inf\n"), std::string::npos);
}

TEST(Exposition, EscapesLabelsSoThatNoneCanForgeALine) {
  Exposition out({kTable});
  add(out, &kTable[1], {"quote\" slash\\ line\nend", std::string(10'000, 'x')}, 1);
  const std::string text = text_of(out);
  EXPECT_NE(text.find("a=\"quote\\\" slash\\\\ line\\\\nend\""), std::string::npos) << text;
  EXPECT_LT(text.size(), 500U);
}

TEST(Exposition, DropsASecondSampleWithTheSameLabels) {
  Exposition out({kTable});
  add(out, &kTable[1], {"x", "y"}, 1);
  add(out, &kTable[1], {"x", "y"}, 2);
  add(out, &kTable[1], {"x", "y2"}, 3);
  add(out, &kTable[0], {}, 4);
  add(out, &kTable[0], {}, 5);
  EXPECT_EQ(text_of(out),
            "# HELP plain Help.\n# TYPE plain gauge\nplain 4\n"
            "# HELP labelled_total Help.\n# TYPE labelled_total counter\n"
            "labelled_total{a=\"x\",b=\"y\"} 1\nlabelled_total{a=\"x\",b=\"y2\"} 3\n");
}

TEST(Exposition, TheSameLabelsOfTwoMetricsAreTwoSamples) {
  constexpr MetricInfo kAlike[] = {{"one", MetricType::kGauge, "a", "Help."},
                                   {"two", MetricType::kGauge, "a", "Help."}};
  Exposition out({kAlike});
  add(out, &kAlike[0], {"x"}, 1);
  add(out, &kAlike[1], {"x"}, 2);
  const std::string text = text_of(out);
  EXPECT_NE(text.find("one{a=\"x\"} 1"), std::string::npos);
  EXPECT_NE(text.find("two{a=\"x\"} 2"), std::string::npos);
}

TEST(Exposition, ASecondHistogramWithTheSameLabelsIsDroppedWhole) {
  Exposition out({kTable});
  const double bounds[] = {1};
  const std::uint64_t counts[] = {2, 3};
  const std::string_view x[] = {"x"};
  const std::string_view y[] = {"y"};
  out.add_histogram(&kTable[2], x, bounds, counts, 7.5);
  out.add_histogram(&kTable[2], x, bounds, counts, 8.5);
  out.add_histogram(&kTable[2], y, bounds, counts, 9.5);
  const std::string text = text_of(out);
  EXPECT_EQ(text.find("8.5"), std::string::npos);
  EXPECT_NE(text.find("times_sum{a=\"y\"} 9.5"), std::string::npos);
  EXPECT_EQ(std::ranges::count(text, '\n'), 2 + 2 * 4);
}

/// Many, so that what was claimed moves to a larger table.
TEST(Exposition, DropsASecondSampleAmongManyToo) {
  Exposition out({kTable});
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 5000; ++i) add(out, &kTable[1], {std::to_string(i), ""}, i);
  }
  EXPECT_EQ(std::ranges::count(text_of(out), '\n'), 2 + 5000);
}

TEST(Exposition, CumulatesTheBucketsOfAHistogram) {
  Exposition out({kTable});
  const std::string_view values[] = {"x"};
  const double bounds[] = {0.001, 1};
  const std::uint64_t counts[] = {2, 3, 1};
  out.add_histogram(&kTable[2], values, bounds, counts, 7.5);
  EXPECT_EQ(
      text_of(out),
      "# HELP times Help.\n# TYPE times histogram\n"
      "times_bucket{a=\"x\",le=\"0.001\"} 2\ntimes_bucket{a=\"x\",le=\"1\"} 5\n"
      "times_bucket{a=\"x\",le=\"+Inf\"} 6\ntimes_sum{a=\"x\"} 7.5\ntimes_count{a=\"x\"} 6\n");
}

}  // namespace
}  // namespace wardmote::serve
