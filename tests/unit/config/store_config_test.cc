#include <chrono>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "config/config.h"
#include "runtime/endpoint.h"
#include "unit/config/config_fixture.h"

namespace wardmote::config {
namespace {

const std::string kRest = "data: /d\nchecks: [{name: a, other: {}}]\n";

Lines wrong(const std::string& store) {
  return complaints("store: " + store + "\n" + kRest);
}

TEST(StoreConfig, IsAbsentUnlessItIsAskedFor) {
  const auto config = parse(kRest);
  ASSERT_TRUE(config);
  EXPECT_FALSE(config->store);
}

TEST(StoreConfig, NamesTheMembersOfAnEtcdCluster) {
  const auto config =
      parse("store: {etcd: {endpoints: ['10.0.0.1:2379', 'etcd-2:2379']}}\n" + kRest);
  ASSERT_TRUE(config);
  ASSERT_TRUE(config->store);
  EXPECT_EQ(config->store->endpoints, (std::vector{runtime::Endpoint::tcp("10.0.0.1", 2379),
                                                   runtime::Endpoint::tcp("etcd-2", 2379)}));
  EXPECT_EQ(config->store->name, "default");
  EXPECT_EQ(config->store->ttl, 6s);
}

TEST(StoreConfig, WithCertificatesAllEndpointsSpeakTlsAndAreBelievedByName) {
  const auto config = parse(
      "store: {etcd: {endpoints: ['e:1'], tls: {ca: /ca, certificate: /c, key: /k}, user: u, "
      "password_file: /p}, name: prod, ttl: 10s}\n" +
      kRest);
  ASSERT_TRUE(config);
  const runtime::Endpoint& endpoint = config->store->endpoints.at(0);
  ASSERT_TRUE(endpoint.tls);
  EXPECT_EQ(endpoint.kind, runtime::Endpoint::Kind::kTls);
  EXPECT_EQ(endpoint.tls->trust, runtime::TlsSettings::Trust::kChainAndName);
  EXPECT_EQ(endpoint.tls->protocol, "h2");
  EXPECT_EQ(endpoint.tls->certificate, "/c");
  EXPECT_EQ(config->store->user + config->store->password_file, "u/p");
  EXPECT_EQ(config->store->name, "prod");
  EXPECT_EQ(config->store->ttl, 10s);
}

TEST(StoreConfig, SaysWhatIsWrong) {
  EXPECT_EQ(wrong("{}").size(), 1U);
  EXPECT_EQ(wrong("{etcd: {}}").size(), 1U);
  EXPECT_EQ(wrong("{etcd: {endpoints: []}}").size(), 1U);
  EXPECT_EQ(wrong("{etcd: {endpoints: [/run/x.sock]}}").size(), 1U);
  EXPECT_EQ(wrong("{etcd: {endpoints: ['http://e:2379']}}").size(), 1U);
  EXPECT_EQ(wrong("{etcd: {endpoints: ['e:1'], user: u}}").size(), 1U);
  EXPECT_EQ(wrong("{etcd: {endpoints: ['e:1'], user: u, password_file: p}}").size(), 1U);
  EXPECT_EQ(wrong("{etcd: {endpoints: ['e:1']}, ttl: 1s}").size(), 1U);
  EXPECT_EQ(wrong("{etcd: {endpoints: ['e:1']}, name: a/b}").size(), 1U);
  EXPECT_EQ(wrong("{etcd: {endpoints: ['e:1']}}").size(), 0U);
}

TEST(StoreConfig, NeedsAFolderForWhatConcernsThisAgentAlone) {
  const Lines lines =
      complaints("store: {etcd: {endpoints: ['e:1']}}\nchecks: [{name: a, other: {}}]\n");
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_TRUE(lines[0].contains("data: /var/lib/wardmote")) << lines[0];
}

TEST(StoreConfig, AnElectionTakesThePlaceOfTheOperatorsWordThatNoOtherActs) {
  const std::string cluster =
      "clusters:\n- name: nb\n  ovn: {database: OVN_Northbound, members: [{name: a, control: "
      "/x}]}\n";
  const std::string start = "store: {etcd: {endpoints: ['e:1']}}\n" + kRest + cluster +
                            "policies: [{name: p, on: [RAFT_DEAD_MEMBER], mode: act";
  const auto elected = parse(start + "}]\n");
  ASSERT_TRUE(elected);
  EXPECT_TRUE(elected->policies.at(0).acts());
  for (const char* const word : {"true", "false"}) {
    const Lines lines = complaints(start + ", sole: " + word + "}]\n");
    ASSERT_EQ(lines.size(), 1U);
    EXPECT_TRUE(lines[0].contains("the agents elect the one that acts")) << lines[0];
  }
}

}  // namespace
}  // namespace wardmote::config
