#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "config/config.h"
#include "config/etcd_cluster.h"
#include "observe/kinds.h"
#include "runtime/endpoint.h"
#include "runtime/tls.h"

namespace wardmote::config {
namespace {

using runtime::Endpoint;

constexpr const char* kWhole = R"(
clusters:
  - name: etcd
    etcd:
      members:
        - {name: a, endpoint: 10.0.0.1:2379}
        - {name: b, endpoint: "[fe80::1]:2379"}
      tls: {ca: /etc/ca.pem, certificate: /etc/c.pem, key: /etc/k.pem}
      expect: ["https://10.0.0.1:2380"]
      quota: 2GiB
  - name: nb
    ovn: {database: OVN_Northbound, members: [{name: x, control: /run/ovn/ovnnb_db.ctl}]}
)";

TEST(EtcdClusters, AreReadBesideThoseOfOvn) {
  const auto config = parse_config(kWhole, observe::probe_kinds());
  ASSERT_TRUE(config) << config.error().front().what << config.error().front().why;
  ASSERT_EQ(config->clusters.size(), 1U);
  EXPECT_EQ(config->checks.at(0).name, "nb") << "the checks of OVN's clusters come first";
  const auto clusters = etcd_clusters(*config);
  ASSERT_EQ(clusters.size(), 1U);
  const EtcdCluster& etcd = clusters[0];
  EXPECT_EQ(etcd.name, "etcd");
  ASSERT_EQ(etcd.members.size(), 2U);
  EXPECT_EQ(etcd.members[1].name, "b");
  EXPECT_EQ(etcd.members[1].endpoint.host, "fe80::1");
  EXPECT_EQ(etcd.members[1].endpoint.kind, Endpoint::Kind::kTls);
  ASSERT_TRUE(etcd.members[0].endpoint.tls);
  EXPECT_EQ(etcd.members[0].endpoint.tls->ca, "/etc/ca.pem");
  EXPECT_EQ(etcd.members[0].endpoint.tls->protocol, "h2");
  EXPECT_EQ(etcd.members[0].endpoint.tls->trust, runtime::TlsSettings::Trust::kChainAndName);
  EXPECT_EQ(etcd.expect, std::vector<std::string>{"https://10.0.0.1:2380"});
  EXPECT_EQ(etcd.quota, 2ULL << 30);
  const auto ready = std::ranges::find(config->gates, "ready", &Gate::name);
  ASSERT_NE(ready, config->gates.end());
  EXPECT_NE(std::ranges::find(ready->all, "etcd"), ready->all.end()) << "it is a check too";
}

TEST(EtcdClusters, WithoutTlsTheyAreAskedInTheClear) {
  const auto config =
      parse_config("clusters: [{name: e, etcd: {members: [{name: a, endpoint: h:2379}]}}]",
                   observe::probe_kinds());
  ASSERT_TRUE(config);
  const auto clusters = etcd_clusters(*config);
  EXPECT_EQ(clusters.at(0).members.at(0).endpoint, Endpoint::tcp("h", 2379));
  EXPECT_FALSE(clusters.at(0).quota);
}

TEST(EtcdClusters, AMemberMaySayWhereItsMetricsAre) {
  const auto config = parse_config(R"(
clusters:
  - name: etcd
    etcd:
      members:
        - {name: a, endpoint: 10.0.0.1:2379, metrics: "https://10.0.0.1:2379/metrics"}
        - {name: b, endpoint: 10.0.0.2:2379, metrics: "http://[fe80::1]:2381/metrics"}
        - {name: c, endpoint: 10.0.0.3:2379}
      tls: {ca: /etc/ca.pem, certificate: /etc/c.pem, key: /etc/k.pem}
)",
                                   observe::probe_kinds());
  ASSERT_TRUE(config) << config.error().front().what << config.error().front().why;
  const auto clusters = etcd_clusters(*config);
  const std::vector<EtcdMember>& members = clusters.at(0).members;
  ASSERT_TRUE(members.at(0).metrics);
  EXPECT_EQ(members[0].metrics->url.target, "/metrics");
  EXPECT_EQ(members[0].metrics->at.kind, Endpoint::Kind::kTls);
  EXPECT_EQ(members[0].metrics->at.port, 2379);
  EXPECT_EQ(members[0].metrics->at.tls->certificate, "/etc/c.pem");
  EXPECT_EQ(members[0].metrics->at.tls->protocol, "") << "HTTP/1.1";
  EXPECT_EQ(members[0].metrics->at.tls->trust, runtime::TlsSettings::Trust::kChainAndName);
  EXPECT_EQ(members.at(1).metrics->at, Endpoint::tcp("fe80::1", 2381)) << "in the clear";
  EXPECT_FALSE(members.at(2).metrics);
}

TEST(EtcdClusters, OtherMetricsAreAnotherCluster) {
  const auto with = [](const std::string& more) {
    const auto config = parse_config(
        "clusters: [{name: e, etcd: {members: [{name: a, endpoint: h:2379" + more + "}]}}]",
        observe::probe_kinds());
    EXPECT_TRUE(config) << more;
    return etcd_clusters(*config);
  };
  EXPECT_NE(with(""), with(", metrics: 'http://h:2379/metrics'"));
  EXPECT_NE(with(", metrics: 'http://h:2381/metrics'"), with(", metrics: 'http://h:2379/metrics'"));
  EXPECT_EQ(with(", metrics: 'http://h:2379/metrics'"), with(", metrics: 'http://H:2379/metrics'"));
}

TEST(EtcdClusters, WhatIsWrongIsSaid) {
  for (const char* wrong :
       {"clusters: [{name: e, etcd: {}}]", "clusters: [{name: e, etcd: {members: []}}]",
        "clusters: [{etcd: {members: [{name: a, endpoint: h:1}]}}]",
        "clusters: [{name: e, etcd: {members: [{name: a, endpoint: /run/x}]}}]",
        "clusters: [{name: e, etcd: {members: [{name: a, endpoint: 'ssl:h:1'}]}}]",
        "clusters: [{name: e, etcd: {members: [{name: a, endpoint: h:1}, {name: a, endpoint: "
        "i:1}]}}]",
        "clusters: [{name: e, etcd: {members: [{name: a, endpoint: h:1}, {name: b, endpoint: "
        "h:1}]}}]",
        "clusters: [{name: e, etcd: {members: [{name: a, endpoint: h:1}], expect: [h]}}]",
        "clusters: [{name: e, etcd: {members: [{name: a, endpoint: h:1, metrics: true}]}}]",
        "clusters: [{name: e, etcd: {members: [{name: a, endpoint: h:1, metrics: 'h:1'}]}}]",
        "clusters: [{name: e, etcd: {members: [{name: a, endpoint: h:1, metrics: 'http://h:1'}]}}]",
        "clusters: [{name: e, etcd: {members: [{name: a, endpoint: h:1, metrics: "
        "'https://h:1/metrics'}]}}]",
        "clusters: [{name: e, etcd: {members: [{name: a, endpoint: h:1, metrics: "
        "'http://u:p@h:1/metrics'}]}}]",
        "clusters: [{name: e, etcd: {members: [{name: a, endpoint: h:1, metrics: "
        "'http://h:1/metrics'}, {name: b, endpoint: h:2, metrics: 'http://h:1/metrics'}]}}]",
        "clusters: [{name: e, etcd: {members: [{name: a, endpoint: h:1}], quota: much}}]",
        "clusters: [{name: e, etcd: {members: [{name: a, endpoint: h:1}]}, ovn: {}}]"}) {
    EXPECT_FALSE(parse_config(wrong, observe::probe_kinds())) << wrong;
  }
}

}  // namespace
}  // namespace wardmote::config
