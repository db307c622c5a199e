// What is shown of the metrics of etcd's members.
#include "serve/etcd/etcd_view.h"

#include <gtest/gtest.h>
#include <boost/json/object.hpp>

#include <chrono>
#include <string>

#include "judge/etcd/cluster.h"
#include "judge/etcd/member_facts.h"
#include "judge/etcd/metrics.h"
#include "judge/outcome.h"
#include "serve/metrics/exposition.h"
#include "serve/thing_view.h"

namespace wardmote::serve {
namespace {

namespace json = boost::json;
using namespace std::chrono_literals;

/// Two members: of one everything is known, and the metrics of the other cannot be read.
EtcdView view() {
  EtcdView view("kube");
  for (const char* name : {"a", "b", "c"}) {
    judge::etcd::MemberView& member = view.members.emplace_back();
    member.name = name;
    member.facts.emplace();
  }
  view.members[0].facts->metrics =
      judge::etcd::MetricsReport{.taken = {}, .metrics = judge::etcd::Metrics{}, .reason = {}};
  view.members[1].facts->metrics = judge::etcd::MetricsReport{
      .taken = {}, .metrics = {}, .reason = {judge::ReasonCode::kRefused, "h:1\x1b: refused"}};
  view.assessment.loads = {
      judge::etcd::MemberLoad{.wal_fsync = judge::etcd::Percentile{0.00199, 400, 40s},
                              .backend_commit = {},
                              .pending = 3,
                              .behind = 1},
      judge::etcd::MemberLoad{},
      {}};
  return view;
}

TEST(EtcdView, ShowsMetricsThatAreKnownAndWhyOthersAreNot) {
  const json::array members = view().to_json({}).at("members").as_array();
  const json::object& known = members.at(0).at("metrics").as_object();
  EXPECT_EQ(known.at("wal_fsync_p99_us"), 1990);
  EXPECT_TRUE(known.at("backend_commit_p99_us").is_null());
  EXPECT_EQ(known.at("proposals_pending"), 3);
  EXPECT_EQ(known.at("proposals_behind"), 1);
  EXPECT_TRUE(known.at("reason").is_null());
  const json::object& unread = members.at(1).at("metrics").as_object();
  EXPECT_EQ(unread.at("reason"), "refused");
  EXPECT_EQ(unread.at("detail"), "h:1\\x1b: refused");
  EXPECT_TRUE(unread.at("wal_fsync_p99_us").is_null());
  EXPECT_TRUE(members.at(2).at("metrics").is_null()) << "nobody asks for them";
}

TEST(EtcdView, MeasuresOnlyWhatIsKnown) {
  Exposition out({kEtcdMetrics});
  view().measure(out, {});
  std::string text;
  out.move_to(text);
  for (const char* line :
       {"wardmote_etcd_member_metrics_up{cluster=\"kube\",member=\"a\"} 1\n",
        "wardmote_etcd_member_metrics_up{cluster=\"kube\",member=\"b\"} 0\n",
        "wardmote_etcd_member_wal_fsync_p99_seconds{cluster=\"kube\",member=\"a\"} 0.00199\n",
        "wardmote_etcd_member_proposals_pending{cluster=\"kube\",member=\"a\"} 3\n",
        "wardmote_etcd_member_proposals_behind{cluster=\"kube\",member=\"a\"} 1\n"}) {
    EXPECT_TRUE(text.contains(line)) << line << text;
  }
  EXPECT_FALSE(text.contains("p99_seconds{cluster=\"kube\",member=\"b\"}")) << text;
  EXPECT_FALSE(text.contains("backend_commit_p99_seconds{")) << text;
  EXPECT_FALSE(text.contains("metrics_up{cluster=\"kube\",member=\"c\"}")) << text;
}

}  // namespace
}  // namespace wardmote::serve
