// The client of etcd among members that refuse, hang, have no leader, or take no token any more.
// What real members do is tried in tests/conformance and tests/integration.
#include <gtest/gtest.h>
#include <algorithm>
#include <array>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "codec/grpc.h"
#include "codec/http2_session.h"
#include "codec/protobuf.h"
#include "runtime/task_group.h"
#include "sim/ovn_host.h"
#include "sim/seeds.h"
#include "store/etcd/channel.h"
#include "store/etcd/etcd_store.h"
#include "support/fake_door.h"
#include "support/http2_server.h"
#include "unit/store/etcd_client_fixture.h"

namespace wardmote::sim {
namespace {

SIM_TEST_SEEDS(EtcdClient, AsksTheNextMemberWhenOneIsDown, 20) {
  Site site(sim);
  site.a.host.crash();
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(site.get());
    EXPECT_TRUE(site.put());
  }
  EXPECT_EQ(site.b.connections(), 1) << "one connection for all";
  site.b.host.crash();
  EXPECT_FALSE(site.get());
}

SIM_TEST_SEEDS(EtcdClient, AReadIsRepeatedAtTheNextMemberAndAWriteIsNot, 20) {
  Site site(sim);
  site.a.manner = [](const Request&) { return refuse(14, "etcdserver: no leader"); };
  const auto put = site.put();
  ASSERT_FALSE(put);
  EXPECT_EQ(put.error().code, Errc::kClosed) << "nobody knows whether it was made";
  EXPECT_EQ(site.a.asked("/Txn") + site.b.asked("/Txn"), 1);
  EXPECT_TRUE(site.put()) << "the next call goes to the next member";
  site.b.manner = site.a.manner;
  site.a.manner = answer_well;
  EXPECT_TRUE(site.get());
}

SIM_TEST_SEEDS(EtcdClient, AMemberThatHangsUsesUpOnlyItsShareOfTheTime, 20) {
  Site site(sim);
  site.a.manner = [](const Request&) { return Answer(); };
  const TimePoint begun = sim.now();
  EXPECT_TRUE(site.get(6s));
  EXPECT_LE(sim.now() - begun, 4s);
  EXPECT_TRUE(site.put(6s));
  site.b.manner = site.a.manner;
  const auto put = site.put(3s);
  ASSERT_FALSE(put);
  EXPECT_EQ(put.error().code, Errc::kTimeout);
}

SIM_TEST_SEEDS(EtcdClient, AWriteThatIsMadeOnceHasAllOfTheTime, 20) {
  Site site(sim);
  ASSERT_TRUE(site.get());
  site.a.takes = 7s;
  const auto put = site.put(10s);
  EXPECT_TRUE(put) << put.error().describe();
  EXPECT_EQ(site.b.connections(), 0);
}

SIM_TEST_SEEDS(EtcdClient, AMemberThatIsCutOffIsLeftAndAllIsWellAgainAfterwards, 20) {
  Site site(sim);
  ASSERT_TRUE(site.get());
  sim.network().isolate("a");
  EXPECT_TRUE(site.get(10s));
  sim.network().isolate("b");
  EXPECT_FALSE(site.get(5s));
  sim.network().heal();
  EXPECT_TRUE(site.get(30s));
}

SIM_TEST_SEEDS(EtcdClient, ACallerThatIsCancelledBreaksNothingForOthers, 20) {
  Site site(sim);
  ASSERT_TRUE(site.get());
  site.a.manner = [](const Request&) { return Answer(); };
  constexpr auto kAsk = [](Site* of) -> Task<void> {
    (void)co_await of->store->get("k", of->us.deadline_in(1h));
  };
  constexpr auto kCancelled = [](Site* of, auto ask) -> Task<void> {
    runtime::TaskGroup group(of->us.executor());
    group.spawn("ask", ask(of));
    co_await of->us.sleep_until(of->us.now() + 50ms);
    co_await group.stop();
  };
  sim.run(site.us, kCancelled(&site, kAsk));
  site.a.manner = answer_well;
  EXPECT_TRUE(site.get());
  EXPECT_EQ(site.a.connections(), 1);
}

SIM_TEST_SEEDS(EtcdClient, AsksForATokenAndOnceMoreWhenItIsTakenNoMore, 20) {
  Site site(sim, "ann");
  ASSERT_TRUE(site.get());
  EXPECT_EQ(site.a.asked("/Authenticate"), 1);
  EXPECT_EQ(site.a.tokens.back(), "token");
  int refused = 0;
  site.a.manner = [&](const Request& request) {
    if (request.path().ends_with("/Range") && ++refused == 1)
      return refuse(16, "etcdserver: invalid auth token");
    return answer_well(request);
  };
  EXPECT_TRUE(site.get());
  EXPECT_EQ(site.a.asked("/Authenticate"), 2);
  site.a.manner = [](const Request& request) {
    if (request.path().ends_with("/Range")) return refuse(16, "etcdserver: invalid auth token");
    return answer_well(request);
  };
  const auto denied = site.get();
  ASSERT_FALSE(denied);
  EXPECT_EQ(denied.error().code, Errc::kDenied);
  EXPECT_EQ(site.a.asked("/Authenticate"), 3) << "not again and again";
}

/// Authentication was off when the agent began, and is enabled later.
SIM_TEST_SEEDS(EtcdClient, AsksForATokenWhenOneIsWantedAtLast, 20) {
  Site site(sim, "ann");
  bool enabled = false;
  site.a.manner = [&](const Request& request) {
    const bool asks = request.path().ends_with("/Authenticate");
    if (asks && !enabled) return refuse(9, "etcdserver: authentication is not enabled");
    const bool known = std::ranges::find(request.headers, "token", &codec::HeaderField::name) !=
                       request.headers.end();
    // rpctypes/error.go: ErrGRPCUserEmpty.
    if (enabled && !asks && !known) return refuse(3, "etcdserver: user name is empty");
    return answer_well(request);
  };
  ASSERT_TRUE(site.get());
  enabled = true;
  EXPECT_TRUE(site.put());
  EXPECT_EQ(site.a.tokens.back(), "token");
}

// It held on to the member for ever, and every call ended with a timeout.
SIM_TEST_SEEDS(EtcdClient, AMemberThatHangsWhileItIsAskedForATokenIsLeft, 20) {
  for (const bool writes : {true, false}) {
    Site site(sim, "wardmote");
    site.a.manner = [](const Request&) -> Answer { return std::nullopt; };
    if (writes) EXPECT_TRUE(site.put()) << "to ask another one for a token is always safe";
    if (!writes) EXPECT_TRUE(site.get());
    EXPECT_EQ(site.a.asked("/Txn"), 0);
    EXPECT_EQ(site.b.asked("/Authenticate"), 1);
    site.b.manner = site.a.manner;
    const TimePoint begun = site.us.now();
    EXPECT_EQ(site.get().error().code, Errc::kTimeout);
    EXPECT_LE(site.us.now() - begun, 11s);
  }
}

SIM_TEST_SEEDS(EtcdClient, EachMemberIsAskedForATokenOnceByOneCall, 5) {
  Site site(sim, "wardmote");
  site.a.manner = site.b.manner = [](const Request&) { return refuse(14, "no leader"); };
  EXPECT_FALSE(site.get());
  EXPECT_EQ(site.a.asked("/Authenticate"), 1);
  EXPECT_EQ(site.b.asked("/Authenticate"), 1);
}

SIM_TEST_SEEDS(EtcdClient, AWrongPasswordIsTriedOnceAndAnEtcdWithoutUsersAsksForNone, 5) {
  Site site(sim, "wardmote");
  site.a.manner = [](const Request& request) {
    return request.path().ends_with("/Authenticate")
               ? refuse(3, "etcdserver: authentication failed, invalid user ID or password")
               : answer_well(request);
  };
  EXPECT_FALSE(site.get());
  EXPECT_EQ(site.a.asked("/Authenticate"), 1);
  EXPECT_EQ(site.b.connections(), 0) << "it is as wrong elsewhere";
  site.a.manner = [](const Request& request) {
    return request.path().ends_with("/Authenticate")
               ? refuse(9, "etcdserver: authentication is not enabled")
               : answer_well(request);
  };
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(site.get());
  EXPECT_EQ(site.a.asked("/Authenticate"), 2);
  EXPECT_EQ(site.a.tokens.back(), "");
}

SIM_TEST_SEEDS(EtcdClient, ACallerInAHurrySaysNothingAboutTheMember, 5) {
  Site site(sim);
  EXPECT_TRUE(site.get());
  site.a.manner = [](const Request&) -> Answer { return std::nullopt; };
  EXPECT_FALSE(site.put(100ms));
  site.a.manner = answer_well;
  EXPECT_TRUE(site.put());
  EXPECT_EQ(site.b.connections(), 0);
}

SIM_TEST_SEEDS(EtcdClient, WhatAMemberSaysBecomesAnErrorOfTheStore, 5) {
  Site site(sim);
  struct Told {
    int status;
    const char* words;
    Errc code;
  };
  const Told all[] = {{3, "etcdserver: request is too large", Errc::kLimit},
                      {3, "etcdserver: too many operations in txn request", Errc::kLimit},
                      {3, "etcdserver: authentication failed", Errc::kDenied},
                      {3, "etcdserver: user name is empty in auth request", Errc::kDenied},
                      {3, "etcdserver: duplicate key given in txn request", Errc::kInvalid},
                      {7, "so it is", Errc::kDenied},
                      {8, "so it is", Errc::kExhausted},
                      {9, "so it is", Errc::kRejected},
                      {12, "so it is", Errc::kProtocol},
                      {13, "so it is", Errc::kInternal},
                      {16, "so it is", Errc::kDenied}};
  for (const auto& [status, words, code] : all) {
    site.a.manner = site.b.manner = [&](const Request&) { return refuse(status, words); };
    const auto put = site.put();
    ASSERT_FALSE(put);
    EXPECT_EQ(put.error().code, code) << status << " " << words;
  }
  site.a.manner = site.b.manner = [](const Request&) {
    return refuse(5, "etcdserver: requested lease not found");
  };
  EXPECT_EQ(site.put().error().code, Errc::kRejected);
  site.a.manner = site.b.manner = [](const Request&) {
    return Http2Server::Answer{codec::encode_grpc_message("\xff\xff")};
  };
  EXPECT_EQ(site.put().error().code, Errc::kProtocol);
  site.a.manner = site.b.manner = [](const Request&) {
    Http2Server::Answer page = *answer_well({});
    page.type = "text/html";
    return Answer(page);
  };
  EXPECT_EQ(site.put().error().code, Errc::kRejected) << "a proxy, or another server";
}

SIM_TEST_SEEDS(EtcdClient, ALeaseThatIsRefusedIsNone, 1) {
  Site site(sim);
  site.a.manner = site.b.manner = [](const Request&) { return refuse(8, "so it is"); };
  const auto lease = run_task(sim, site.us, site.store->grant(6s, site.us.deadline_in(10s)));
  ASSERT_FALSE(lease);
  EXPECT_EQ(lease.error().code, Errc::kExhausted);
}

SIM_TEST_SEEDS(EtcdClient, AKeyComesWithAllThatIsKnownOfIt, 1) {
  Site site(sim);
  site.a.manner = [](const Request&) {
    ProtoWriter pair;
    pair.bytes(1, "/p/k");
    pair.number(2, 3);
    pair.number(3, 5);
    pair.number(4, 2);
    pair.bytes(5, "v");
    pair.number(6, 99);
    ProtoWriter message;
    message.message(1, header_of(7));
    message.message(2, pair.take());
    return Answer(Http2Server::Answer{codec::encode_grpc_message(message.take())});
  };
  const store::Found found = site.get().value();
  EXPECT_EQ(found.revision, 7);
  ASSERT_TRUE(found.key);
  EXPECT_EQ(found.key->key, "k");
  EXPECT_EQ(found.key->value, "v");
  EXPECT_EQ(found.key->create_revision, 3);
  EXPECT_EQ(found.key->mod_revision, 5);
  EXPECT_EQ(found.key->version, 2);
  EXPECT_EQ(found.key->lease, 99);
}

/// etcd's Compare: field 2 is the target, 3 of it the value (rpc.proto).
SIM_TEST_SEEDS(EtcdClient, AConditionOnAValueIsOneOnTheValue, 1) {
  Site site(sim);
  const std::string& asked = site.hear_what_is_asked();
  const auto target_of = [&](store::Compare::Target target) {
    store::Transaction one;
    one.conditions.push_back({.keys = store::KeyRange::one("k"), .target = target, .operand = "v"});
    if (target != store::Compare::Target::kValue) one.conditions.back().operand = 7;
    EXPECT_TRUE(
        run_task(sim, site.us, site.store->put_if(std::move(one), site.us.deadline_in(1s))));
    return asked;
  };
  EXPECT_TRUE(target_of(store::Compare::Target::kValue).contains("\x10\x03"));
  EXPECT_TRUE(target_of(store::Compare::Target::kModRevision).contains("\x10\x02"));
  EXPECT_TRUE(target_of(store::Compare::Target::kCreateRevision).contains("\x10\x01"));
}

/// etcd's RangeRequest: a key of one byte 0 and such an end mean all keys.
SIM_TEST_SEEDS(EtcdClient, WithoutAPrefixItAsksForAllKeys, 1) {
  Site site(sim);
  const std::string& asked = site.hear_what_is_asked();
  store::etcd::EtcdStore bare(site.us, {.endpoints = {Member::at("a")}}, "");
  const auto list = [&](store::KeyRange keys) {
    EXPECT_TRUE(run_task(sim, site.us, bare.list(std::move(keys), site.us.deadline_in(1s))));
    return asked.substr(5);  // behind the head of a gRPC message
  };
  EXPECT_TRUE(
      list(store::KeyRange::prefix("")).starts_with(std::string_view("\x0a\1\0\x12\1\0", 6)));
  EXPECT_TRUE(
      list(store::KeyRange::prefix("a")).starts_with(std::string_view("\x0a\1a\x12\1b", 6)));
  EXPECT_TRUE(list(store::KeyRange::one("a")).starts_with(std::string_view("\x0a\1a", 3)));
  sim.run(site.us, bare.stop());
}

SIM_TEST_SEEDS(EtcdClient, AConnectionThatWasClosedTakesNoCall, 1) {
  Site site(sim);
  runtime::TaskGroup tasks(site.us.executor());
  auto stream = run_task(sim, site.us, site.us.connect(Member::at("a"), site.us.deadline_in(1s)));
  ASSERT_TRUE(stream);
  const auto channel = store::etcd::Channel::open(site.us, tasks, *std::move(stream), "http", "a");
  EXPECT_TRUE(channel->begin("/a", {}, std::nullopt));
  channel->close();
  EXPECT_FALSE(channel->takes_calls());
  const auto refused = channel->begin("/a", {}, std::nullopt);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::kClosed);
  sim.run(site.us, tasks.stop());
}

}  // namespace
}  // namespace wardmote::sim
