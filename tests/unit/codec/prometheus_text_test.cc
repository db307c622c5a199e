// The Prometheus text format, against what a real etcd serves, and against what nobody should.
#include "codec/prometheus_text.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "support/test_data.h"

namespace wardmote::codec {
namespace {

using Labels = std::vector<std::pair<std::string, std::string>>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::string_view kWanted[] = {"h_bucket", "h_sum", "h_count", "g"};

std::string capture() {
  std::ifstream file(std::filesystem::path(WARDMOTE_TEST_DATA) / "etcd/metrics-3.4.23.txt");
  return {std::istreambuf_iterator<char>(file), {}};
}

Result<std::vector<PrometheusSample>> read(std::string_view text,
                                           const PrometheusLimits& limits = {}) {
  return read_prometheus_text(text, kWanted, limits);
}

/// The value of the one sample.
double value(const std::string& line) {
  const auto samples = read(line + "\n");
  EXPECT_TRUE(samples && samples->size() == 1) << line;
  return samples && !samples->empty() ? samples->front().value : -1;
}

Errc fault(std::string_view text, const PrometheusLimits& limits = {}) {
  const auto samples = read(text, limits);
  EXPECT_FALSE(samples) << text.substr(0, 80);
  return samples ? Errc::kInternal : samples.error().code;
}

Result<std::optional<PrometheusHistogram>> histogram(const std::string& text) {
  const auto samples = read(text);
  EXPECT_TRUE(samples) << text;
  return prometheus_histogram(*samples, "h");
}

constexpr std::string_view kGood =
    "h_bucket{le=\"0.1\"} 1\nh_bucket{le=\"+Inf\"} 3\nh_sum 1.5\nh_count 3\n";

TEST(PrometheusText, ReadsTheFsyncsOfARealEtcd) {
  const std::string text = capture();
  constexpr std::string_view kName = "etcd_disk_wal_fsync_duration_seconds";
  constexpr std::string_view kNames[] = {"etcd_disk_wal_fsync_duration_seconds_bucket",
                                         "etcd_disk_wal_fsync_duration_seconds_sum",
                                         "etcd_disk_wal_fsync_duration_seconds_count",
                                         "etcd_server_proposals_committed_total", "etcd_server_id"};
  const auto samples = read_prometheus_text(text, kNames);
  ASSERT_TRUE(samples) << samples.error().describe();
  const auto fsyncs = prometheus_histogram(*samples, kName);
  ASSERT_TRUE(fsyncs && *fsyncs);
  ASSERT_EQ((*fsyncs)->buckets.size(), 15U);
  EXPECT_EQ((*fsyncs)->buckets.front(), (PrometheusHistogram::Bucket{0.001, 3}));
  EXPECT_EQ((*fsyncs)->buckets[4], (PrometheusHistogram::Bucket{0.016, 5}));
  EXPECT_EQ((*fsyncs)->buckets.back(), (PrometheusHistogram::Bucket{kInfinity, 5}));
  EXPECT_DOUBLE_EQ((*fsyncs)->sum, 0.016231698);
  EXPECT_EQ(prometheus_value(*samples, "etcd_server_proposals_committed_total"), 4);
  EXPECT_FALSE(prometheus_value(*samples, "etcd_server_id")) << "it has labels";
  const auto server = std::ranges::find(*samples, "etcd_server_id", &PrometheusSample::name);
  ASSERT_NE(server, samples->end());
  EXPECT_EQ(server->labels, (Labels{{"server_id", "69b38ac7138de88d"}}));
}

TEST(PrometheusText, ValuesAreAsGoWritesThem) {
  EXPECT_EQ(value("g 4"), 4);
  EXPECT_EQ(value("g 1.79602132353e+09"), 1796021323.53);
  EXPECT_EQ(value("  g\t-0.5 1395066363000"), -0.5) << "with blanks and a time";
  EXPECT_EQ(value("g{} 7 "), 7);
  EXPECT_EQ(value("g +Inf"), kInfinity);
  EXPECT_EQ(value("g -Inf"), -kInfinity);
  EXPECT_TRUE(std::isnan(value("g NaN")));
}

TEST(PrometheusText, LabelsAreUnescapedAndSorted) {
  const auto samples = read("g{ b = \"x\\\\y\\\"z\\n\", a=\"}, g 1\" , } 1\n");
  ASSERT_TRUE(samples) << samples.error().describe();
  ASSERT_EQ(samples->size(), 1U);
  EXPECT_EQ(samples->front().labels, (Labels{{"a", "}, g 1"}, {"b", "x\\y\"z\n"}}));
}

TEST(PrometheusText, OtherLinesAreSkippedWhateverTheySay) {
  const auto samples =
      read("# HELP g a gauge\n# TYPE g gauge\n\nother{ nonsense\nga 1\n<html>\ng 2\n");
  ASSERT_TRUE(samples);
  ASSERT_EQ(samples->size(), 1U);
  EXPECT_EQ(samples->front().value, 2);
  EXPECT_TRUE(read("no metrics here\n")->empty());
}

TEST(PrometheusText, AMalformedLineOfAWantedMetricIsRefused) {
  for (const char* line : {"g",
                           "g ",
                           "g x",
                           "g 1x",
                           "g 0x10",
                           "g nan",
                           "g inf",
                           "g 1 2 3",
                           "g 1 now",
                           "g{a=\"1\" 1",
                           "g{a=1} 1",
                           "g{a=\"1\\x\"} 1",
                           "g{a=\"1\"b=\"2\"} 1",
                           "g{=\"1\"} 1",
                           "g{a=\"1\",a=\"2\"} 1",
                           "g{a=\"",
                           "g{a=\"\\",
                           "g{a=\"1\"}",
                           "g 1e999",
                           "g ++1",
                           "g -"}) {
    EXPECT_EQ(fault(std::string(line) + "\n"), Errc::kProtocol) << line;
  }
}

TEST(PrometheusText, ATextThatWasCutOffIsRefused) {
  EXPECT_EQ(fault(""), Errc::kProtocol);
  EXPECT_EQ(fault("g 12"), Errc::kProtocol) << "it may have been 123";
  const std::string whole = capture();
  for (const std::size_t size : {whole.size() / 2, whole.size() - 1}) {
    if (whole[size - 1] != '\n') EXPECT_EQ(fault(whole.substr(0, size)), Errc::kProtocol) << size;
  }
}

TEST(PrometheusText, OneSampleTwiceIsRefused) {
  EXPECT_EQ(fault("g 1\ng 1\n"), Errc::kProtocol);
  EXPECT_EQ(fault("g{a=\"1\",b=\"2\"} 1\ng{b=\"2\",a=\"1\"} 3\n"), Errc::kProtocol);
  EXPECT_EQ(read("g{a=\"1\"} 1\ng{a=\"2\"} 1\n")->size(), 2U);
}

TEST(PrometheusText, LimitsHold) {
  const PrometheusLimits limits{.text_bytes = 64, .line_bytes = 16, .samples = 2, .labels = 1};
  EXPECT_TRUE(read("g" + std::string(14, ' ') + "1\n", limits));
  EXPECT_EQ(fault("g" + std::string(15, ' ') + "1\n", limits), Errc::kLimit);
  EXPECT_EQ(fault("#" + std::string(16, 'x') + "\n", limits), Errc::kLimit) << "any line";
  EXPECT_TRUE(read(std::string(64, '\n'), limits));
  EXPECT_EQ(fault(std::string(65, '\n'), limits), Errc::kLimit);
  EXPECT_TRUE(read("g 1\nh_sum 1\n", limits));
  EXPECT_EQ(fault("g 1\nh_sum 1\nh_count 1\n", limits), Errc::kLimit);
  EXPECT_TRUE(read("g{a=\"1\"} 1\n", limits));
  EXPECT_EQ(fault("g{a=\"\",b=\"\"} 1\n", limits), Errc::kProtocol);
}

TEST(PrometheusText, AHistogramIsWholeOrNone) {
  EXPECT_TRUE(histogram(std::string(kGood))->has_value());
  EXPECT_FALSE(*histogram("g 1\n"));
  for (const char* part : {"h_bucket{le=\"+Inf\"} 3\n", "h_sum 1\n", "h_count 3\n",
                           "h_bucket{le=\"+Inf\"} 3\nh_count 3\n",
                           "h_bucket{le=\"+Inf\"} 3\nh_sum 3\n", "h_sum 1\nh_count 3\n"}) {
    EXPECT_FALSE(histogram(part)) << part;
  }
}

TEST(PrometheusText, AHistogramThatContradictsItselfIsRefused) {
  const std::string rest = "h_sum 1.5\nh_count 3\n";
  for (const char* buckets :
       {"h_bucket{le=\"0.1\"} 3\n", "h_bucket{le=\"0.1\"} 4\nh_bucket{le=\"+Inf\"} 3\n",
        "h_bucket{le=\"+Inf\"} 2\n", "h_bucket{le=\"NaN\"} 1\nh_bucket{le=\"+Inf\"} 3\n",
        "h_bucket{le=\"0.1\"} NaN\nh_bucket{le=\"+Inf\"} 3\n",
        "h_bucket{le=\"0.1\"} 1.5\nh_bucket{le=\"+Inf\"} 3\n",
        "h_bucket{le=\"0.1\"} -1\nh_bucket{le=\"+Inf\"} 3\n",
        "h_bucket{le=\"0.1\"} 1\nh_bucket{le=\"1e-1\"} 1\nh_bucket{le=\"+Inf\"} 3\n",
        "h_bucket{le=\"0.1\",x=\"y\"} 1\nh_bucket{le=\"+Inf\"} 3\n",
        "h_bucket 1\nh_bucket{le=\"+Inf\"} 3\n"}) {
    const auto read = histogram(buckets + rest);
    ASSERT_FALSE(read) << buckets;
    EXPECT_EQ(read.error().code, Errc::kProtocol);
  }
  EXPECT_FALSE(histogram("h_bucket{le=\"+Inf\"} 3\nh_sum NaN\nh_count 3\n"));
}

TEST(PrometheusText, ACountIsWholeAndExact) {
  EXPECT_EQ(prometheus_count(0), 0U);
  EXPECT_EQ(prometheus_count(9007199254740992.0), 1ULL << 53);
  for (const double no : {-1.0, 0.5, kInfinity, 9007199254740994.0, std::nan("")})
    EXPECT_FALSE(prometheus_count(no)) << no;
}

}  // namespace
}  // namespace wardmote::codec
