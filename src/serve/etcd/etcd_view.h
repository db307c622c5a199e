#pragma once

#include <boost/json/object.hpp>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "judge/condition/condition.h"
#include "judge/etcd/cluster.h"
#include "judge/etcd/metrics.h"
#include "judge/finding.h"
#include "judge/verdict.h"
#include "serve/metrics/exposition.h"
#include "serve/thing_view.h"

namespace wardmote::serve {

inline constexpr MetricInfo kEtcdMetrics[] = {
    {"wardmote_etcd_verdict", MetricType::kGauge, "cluster",
     "0 ok, 1 warning, 2 critical, 3 unknown."},
    {"wardmote_etcd_member_up", MetricType::kGauge, "cluster,member",
     "Whether the member answered the last look."},
    {"wardmote_etcd_member_leader", MetricType::kGauge, "cluster,member",
     "Whether the member says that it leads."},
    {"wardmote_etcd_member_term", MetricType::kGauge, "cluster,member", "Its raft term."},
    {"wardmote_etcd_member_index", MetricType::kGauge, "cluster,member",
     "The last committed index that it knows of."},
    {"wardmote_etcd_member_db_bytes", MetricType::kGauge, "cluster,member",
     "The size of its database."},
    {"wardmote_etcd_member_db_in_use_bytes", MetricType::kGauge, "cluster,member",
     "The part of its database that is in use."},
    {"wardmote_etcd_member_metrics_up", MetricType::kGauge, "cluster,member",
     "Whether its own metrics could be read; only where the configuration names them."},
    {"wardmote_etcd_member_wal_fsync_p99_seconds", MetricType::kGauge, "cluster,member",
     "99 % of the fsyncs of its log took no longer, over the last 40 seconds or more."},
    {"wardmote_etcd_member_backend_commit_p99_seconds", MetricType::kGauge, "cluster,member",
     "99 % of the commits of its database took no longer, over the last 40 seconds or more."},
    {"wardmote_etcd_member_proposals_pending", MetricType::kGauge, "cluster,member",
     "Proposals that wait in it."},
    {"wardmote_etcd_member_proposals_behind", MetricType::kGauge, "cluster,member",
     "Proposals that it knows to be committed and has not applied."},
    {"wardmote_etcd_finding", MetricType::kGauge, "cluster,code,severity",
     "Present findings of an etcd cluster, by code and severity."},
};
inline constexpr Family kEtcdFamily{judge::etcd::kEtcdKind, "etcd", "/api/v1/etcd",
                                    "/api/v1/etcd/{name}", kEtcdMetrics};

/// One etcd cluster, as judged last. Its JSON:
///
/// {"etcd", "at", "verdict", "quorum": {"voters", "needed", "live"}, "leader",
///  "members": [{"member", "outcome", "reason", "detail", "facts", "metrics"}], "findings",
///  "observed"}
///
/// `facts` and `metrics` are those of member_json.h, or null.
class EtcdView final : public ThingView {
 public:
  explicit EtcdView(std::string name) : ThingView({judge::etcd::kEtcdKind, std::move(name)}) {}

  std::vector<judge::etcd::MemberView> members;
  judge::etcd::Assessment assessment;

  [[nodiscard]] std::span<const judge::Finding> findings() const noexcept override {
    return assessment.findings;
  }
  [[nodiscard]] std::span<const judge::Observed> observed() const noexcept override {
    return assessment.observed;
  }
  [[nodiscard]] std::optional<judge::Verdict> verdict() const noexcept override {
    return assessment.verdict;
  }
  [[nodiscard]] std::string owner() const override;
  [[nodiscard]] std::string component_of(const judge::Finding& finding) const override;
  [[nodiscard]] boost::json::object names() const override;
  [[nodiscard]] boost::json::object to_json(Moment at) const override;
  void measure(Exposition& out, Moment at) const override;

 private:
  [[nodiscard]] std::optional<judge::etcd::MemberLoad> load_of(std::size_t member) const;
  void measure_metrics(Exposition& out, std::size_t member) const;
};

/// The name of an etcd cluster in the graph of incidents.
std::string etcd_node(std::string_view cluster);

}  // namespace wardmote::serve
