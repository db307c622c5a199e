// What the metrics of etcd's members say: slow disks, proposals that wait or fail, and silence.
#include "judge/etcd/metrics.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "judge/etcd/cluster.h"
#include "judge/etcd/member_facts.h"
#include "judge/finding.h"
#include "judge/outcome.h"
#include "judge/verdict.h"
#include "unit/judge/etcd/cluster_fixture.h"

namespace wardmote::judge::etcd {
namespace {

using namespace std::chrono_literals;
using enum Code;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// A histogram with some of etcd's bounds.
class Disk {
 public:
  /// `count` more that took `seconds`.
  void write(std::uint64_t count, double seconds) {
    for (Durations::Bucket& bucket : durations_.buckets) {
      if (seconds <= bucket.seconds) bucket.count += count;
    }
  }
  [[nodiscard]] const Durations& durations() const { return durations_; }

 private:
  Durations durations_{.buckets = {{0.001, 0},
                                   {0.002, 0},
                                   {0.004, 0},
                                   {0.008, 0},
                                   {0.016, 0},
                                   {0.032, 0},
                                   {0.064, 0},
                                   {kInfinity, 0}}};
};

class EtcdMetricsTest : public EtcdClusterTest {
 protected:
  EtcdMetricsTest() {
    now_ += 1h;  // nothing depends on the epoch
    for (std::size_t i = 0; i < 3; ++i) metrics_[i].process_start = 1000;
  }

  /// Looks a second apart, in which every member reports: the fsyncs are those of `wal_`, the
  /// commits those of `backend_`.
  const Assessment& goes_on(int seconds, std::uint64_t fsyncs = 10, double fsync = 0.0015,
                            std::uint64_t commits = 10, double commit = 0.0015) {
    for (int i = 0; i < seconds; ++i) {
      wal_[0].write(fsyncs, fsync);
      backend_[0].write(commits, commit);
      for (const std::size_t other : {1U, 2U}) {
        wal_[other].write(10, 0.0015);
        backend_[other].write(10, 0.0015);
      }
      for (std::size_t member = 0; member < 3; ++member) report(member);
      looks(1);
    }
    return last_;
  }

  void report(std::size_t member) {
    Metrics& metrics = metrics_[member];
    metrics.wal_fsync = wal_[member].durations();
    metrics.backend_commit = backend_[member].durations();
    if (!views_[member].facts) return;
    MetricsReport& said = views_[member].facts->metrics.emplace();
    said.taken = now_ + 1s;
    if (unread_ == member)
      said.reason = {ReasonCode::kRefused, "http://m0:2381/metrics: refused"};
    else
      said.metrics = metrics;
  }

  void restart() {
    wal_[0] = {};
    backend_[0] = {};
    metrics_[0] = {.pending = 0, .committed = 0, .applied = 0, .failed = 0, .process_start = 5000};
  }

  Disk wal_[3];
  Disk backend_[3];
  Metrics metrics_[3] = {{.pending = 0, .committed = 100, .applied = 100, .failed = 0},
                         {.pending = 0, .committed = 100, .applied = 100, .failed = 0},
                         {.pending = 0, .committed = 100, .applied = 100, .failed = 0}};
  std::optional<std::size_t> unread_;
};

TEST_F(EtcdMetricsTest, FastDisksAreNoFinding) {
  EXPECT_EQ(goes_on(300).verdict, Verdict::kOk);
  EXPECT_TRUE(last_.findings.empty());
  EXPECT_TRUE(last_.observed.empty());
  ASSERT_TRUE(last_.loads.at(0) && last_.loads[0]->wal_fsync);
  EXPECT_NEAR(last_.loads[0]->wal_fsync->p99, 0.00199, 1e-9) << "99 % of its bucket, 1 to 2 ms";
}

TEST_F(EtcdMetricsTest, AMemberThatIsNotAskedForMetricsHasNone) {
  looks(60);
  EXPECT_FALSE(last_.loads.at(0));
  EXPECT_TRUE(last_.findings.empty());
}

TEST_F(EtcdMetricsTest, FsyncsThatStaySlowAreFoundAfterAMinute) {
  goes_on(60);
  goes_on(50, 10, 0.020);
  EXPECT_FALSE(find(kEtcdSlowDisk));
  ASSERT_FALSE(last_.observed.empty());
  EXPECT_EQ(last_.observed.front().code, kEtcdSlowDisk);
  goes_on(15, 10, 0.020);
  const Finding* const found = find(kEtcdSlowDisk);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->severity, Severity::kWarning);
  EXPECT_EQ(found->subjects.front(), "etcd-0");
  EXPECT_TRUE(found->summary.contains("an fsync of its log takes")) << found->summary;
  EXPECT_FALSE(found->summary.contains("commit")) << found->summary;
  EXPECT_EQ(last_.verdict, Verdict::kWarning);
  EXPECT_EQ(last_.members.at(0).outcome, Outcome::kOk) << "it does what a member does";
  goes_on(60);
  EXPECT_FALSE(find(kEtcdSlowDisk));
  EXPECT_EQ(last_.verdict, Verdict::kOk);
}

TEST_F(EtcdMetricsTest, CommitsHaveALimitOfTheirOwn) {
  goes_on(180, 10, 0.0015, 10, 0.012);
  EXPECT_FALSE(find(kEtcdSlowDisk)) << "slow for an fsync, and not for a commit";
  goes_on(180, 10, 0.0015, 10, 0.030);
  const Finding* const found = find(kEtcdSlowDisk);
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->summary.contains("a commit of its database takes")) << found->summary;
  EXPECT_FALSE(found->summary.contains("fsync")) << found->summary;
}

TEST_F(EtcdMetricsTest, OneSlowWriteOfAHundredIsNone) {
  for (int i = 0; i < 30; ++i) {
    goes_on(9);  // 100 in ten seconds
    goes_on(1, 9);
    wal_[0].write(i % 6 == 0 ? 1 : 0, 0.060);  // one a minute
    EXPECT_TRUE(last_.observed.empty()) << i;
  }
  EXPECT_TRUE(last_.findings.empty());
}

TEST_F(EtcdMetricsTest, ASlowQuarterOfAMinuteIsNone) {
  goes_on(60);
  goes_on(15, 10, 0.060);
  EXPECT_FALSE(last_.observed.empty());
  for (int i = 0; i < 120; ++i) EXPECT_TRUE(goes_on(1).findings.empty()) << i;
  EXPECT_TRUE(last_.observed.empty());
}

TEST_F(EtcdMetricsTest, FewWritesSayNothing) {
  for (int i = 0; i < 60; ++i) {
    goes_on(4, 0, 0, 0, 0);
    goes_on(1, 9, 0.060, 9, 0.060);  // 90 within the window
  }
  EXPECT_TRUE(last_.findings.empty());
  EXPECT_TRUE(last_.observed.empty());
  EXPECT_FALSE(last_.loads.at(0)->wal_fsync);
}

TEST_F(EtcdMetricsTest, ADiskAtTheLimitDoesNotComeAndGo) {
  goes_on(180, 10, 0.020);
  ASSERT_TRUE(find(kEtcdSlowDisk));
  for (int i = 0; i < 20; ++i) {
    // Two of a hundred take 8 to 16 ms: by interpolation the percentile is between the limits.
    goes_on(4, 50);
    goes_on(1, 5, 0.009);
    goes_on(4, 50);
    EXPECT_TRUE(find(kEtcdSlowDisk)) << i;
  }
  EXPECT_GT(last_.loads.at(0)->wal_fsync->p99, 0.008);
  goes_on(60);
  EXPECT_FALSE(find(kEtcdSlowDisk));
}

TEST_F(EtcdMetricsTest, ARestartOfEtcdBeginsAnew) {
  goes_on(60);
  wal_[0].write(500, 0.060);  // the last that it did
  restart();
  goes_on(1, 500);  // as if it had gone on
  EXPECT_FALSE(last_.loads.at(0)->wal_fsync) << "of one report";
  goes_on(60);
  EXPECT_TRUE(last_.findings.empty());
  EXPECT_TRUE(last_.observed.empty());
  EXPECT_LT(last_.loads.at(0)->wal_fsync->p99, 0.002) << "nothing of the time before";
}

TEST_F(EtcdMetricsTest, CountsThatFellAreARestartAlsoWithoutATime) {
  for (Metrics& metrics : metrics_) metrics.process_start.reset();
  goes_on(60);
  restart();
  metrics_[0].process_start.reset();
  goes_on(1, 5);
  EXPECT_FALSE(last_.loads.at(0)->wal_fsync) << "too few since then";
  EXPECT_FALSE(last_.loads[0]->failed);
  goes_on(60);
  EXPECT_TRUE(last_.loads.at(0)->wal_fsync);
}

TEST_F(EtcdMetricsTest, ASlowDiskIsNotCalledWellByARestart) {
  goes_on(180, 10, 0.020);
  restart();
  goes_on(5, 10, 0.020);
  const Finding* const found = find(kEtcdSlowDisk);
  ASSERT_TRUE(found);
  EXPECT_FALSE(found->confirmed);
  goes_on(30, 10, 0.020);
  EXPECT_TRUE(find(kEtcdSlowDisk)->confirmed);
}

TEST_F(EtcdMetricsTest, ADiskThatNobodyWritesToAnyMoreIsNotCalledWell) {
  goes_on(180, 10, 0.020);
  goes_on(180, 0);
  ASSERT_TRUE(find(kEtcdSlowDisk));
  EXPECT_FALSE(find(kEtcdSlowDisk)->confirmed);
}

TEST_F(EtcdMetricsTest, MetricsThatCannotBeReadAreSaidOnceAndMakeNoMemberBad) {
  unread_ = 0;
  goes_on(30);
  EXPECT_FALSE(find(kEtcdMetricsUnread));
  goes_on(60);
  const Finding* const found = find(kEtcdMetricsUnread);
  ASSERT_TRUE(found);
  EXPECT_EQ(codes(), std::vector<Code>{kEtcdMetricsUnread});
  EXPECT_EQ(found->evidence.front().says, "http://m0:2381/metrics: refused");
  EXPECT_EQ(last_.members.at(0).outcome, Outcome::kOk);
  EXPECT_EQ(last_.quorum.live, 3U);
  EXPECT_FALSE(last_.loads.at(0)->wal_fsync);
  EXPECT_TRUE(last_.loads.at(1)->wal_fsync);
  unread_.reset();
  goes_on(1);
  EXPECT_FALSE(find(kEtcdMetricsUnread));
}

TEST_F(EtcdMetricsTest, MetricsThatCannotBeReadHideNothing) {
  goes_on(180, 10, 0.020);
  unread_ = 0;
  views_[1].facts->alarms = {{id(0), AlarmKind::kNospace, "NOSPACE"}};
  silence(2, ReasonCode::kRefused);
  goes_on(30);
  EXPECT_TRUE(find(kEtcdNospace));
  EXPECT_TRUE(find(kRaftMemberDown));
  ASSERT_TRUE(find(kEtcdSlowDisk));
  EXPECT_FALSE(find(kEtcdSlowDisk)->confirmed);
}

TEST_F(EtcdMetricsTest, AMemberThatIsSilentKeepsWhatWasKnownOfItsDisk) {
  goes_on(180, 10, 0.020);
  silence(0, ReasonCode::kRefused);
  goes_on(30);
  EXPECT_TRUE(find(kRaftMemberDown));
  ASSERT_TRUE(find(kEtcdSlowDisk));
  EXPECT_FALSE(find(kEtcdSlowDisk)->confirmed);
  EXPECT_FALSE(last_.loads.at(0));
}

TEST_F(EtcdMetricsTest, ProposalsThatWaitAllTheTimeAreALag) {
  goes_on(60);
  metrics_[0].pending = 150;
  goes_on(50);
  EXPECT_FALSE(find(kEtcdProposalLag)) << "40 s, and then 30 s more";
  goes_on(30);
  const Finding* const found = find(kEtcdProposalLag);
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->summary.contains("150 proposals wait in it")) << found->summary;
  metrics_[0].pending = 20;
  goes_on(1);
  EXPECT_FALSE(find(kEtcdProposalLag));
}

TEST_F(EtcdMetricsTest, ProposalsThatComeInBurstsAreNone) {
  for (int i = 0; i < 20; ++i) {
    metrics_[0].pending = 5000;
    metrics_[0].committed = *metrics_[0].applied + 3000;
    goes_on(20);
    metrics_[0].pending = 0;
    metrics_[0].applied = metrics_[0].committed;
    goes_on(3);
  }
  EXPECT_TRUE(last_.findings.empty());
  EXPECT_TRUE(last_.observed.empty());
}

TEST_F(EtcdMetricsTest, ProposalsThatAreNotAppliedAreALag) {
  metrics_[0].committed = *metrics_[0].applied + 1000;
  goes_on(80);
  const Finding* const found = find(kEtcdProposalLag);
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->summary.contains("it has not applied 1000 that are committed"))
      << found->summary;
}

TEST_F(EtcdMetricsTest, MoreAppliedThanCommittedIsNotBehind) {
  metrics_[0].applied = *metrics_[0].committed + 3;  // the two are read one after the other
  goes_on(80);
  EXPECT_EQ(last_.loads.at(0)->behind, 0U);
  EXPECT_TRUE(last_.findings.empty());
}

TEST_F(EtcdMetricsTest, ProposalsThatKeepFailingAreFoundAndThoseOfOneElectionAreNot) {
  goes_on(60);
  *metrics_[0].failed += 500;
  goes_on(120);
  EXPECT_TRUE(last_.findings.empty());
  for (int i = 0; i < 40; ++i) {
    *metrics_[0].failed += 1;
    goes_on(5);
  }
  const Finding* const found = find(kEtcdProposalsFail);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->subjects.front(), "etcd-0");
  goes_on(60);
  EXPECT_FALSE(find(kEtcdProposalsFail));
}

TEST_F(EtcdMetricsTest, AReportThatIsShownAgainCountsOnce) {
  goes_on(60);
  const auto count = last_.loads.at(0)->wal_fsync->count;
  looks(30);
  EXPECT_EQ(last_.loads.at(0)->wal_fsync->count, count);
}

TEST(EtcdMetricsWindow, ThePercentileIsThatOfPrometheus) {
  MetricsWindow window;
  const auto at = [&](int second, Durations durations) {
    window.note({.taken = TimePoint{std::chrono::seconds(second)},
                 .metrics = Metrics{.wal_fsync = std::move(durations)},
                 .reason = {}});
  };
  at(0, {{{0.008, 5}, {0.016, 7}, {kInfinity, 9}}});
  EXPECT_FALSE(window.load().wal_fsync);
  at(10, {{{0.008, 103}, {0.016, 107}, {kInfinity, 109}}});
  // 98, 100 and 100 in the window: histogram_quantile(0.99) is half of the way from 8 to 16 ms.
  ASSERT_TRUE(window.load().wal_fsync);
  EXPECT_DOUBLE_EQ(window.load().wal_fsync->p99, 0.012);
  EXPECT_EQ(window.load().wal_fsync->count, 100U);
  at(20, {{{0.008, 103}, {0.016, 107}, {kInfinity, 209}}});
  EXPECT_DOUBLE_EQ(window.load().wal_fsync->p99, 0.016) << "longer than any bound: at least that";
  at(30, {{{0.008, 400}, {kInfinity, 500}}});
  EXPECT_FALSE(window.load().wal_fsync) << "other bounds: another histogram";
}

TEST(EtcdMetricsWindow, LooksThatAreFarApartAreComparedToo) {
  MetricsWindow window;
  for (std::uint64_t i = 0; i < 4; ++i) {
    window.note(
        {.taken = TimePoint{std::chrono::minutes(5 * i)},
         .metrics = Metrics{.wal_fsync = Durations{{{0.001, 200 * i}, {kInfinity, 200 * i}}}},
         .reason = {}});
  }
  ASSERT_TRUE(window.load().wal_fsync);
  EXPECT_EQ(window.load().wal_fsync->count, 200U);
  EXPECT_EQ(window.load().span, 5min);
}

}  // namespace
}  // namespace wardmote::judge::etcd
