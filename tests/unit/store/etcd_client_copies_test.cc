// An older copy in the place of etcd is noticed by whoever asks first.
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

/// What one part of the agent has read or written, another one need not have seen: an older copy of
/// etcd is noticed by whoever asks first, also by the first write after which it would be as far.
SIM_TEST_SEEDS(EtcdClient, AnOlderCopyIsNoticedByTheFirstAnswer, 1) {
  Site site(sim);
  std::int64_t revision = 7;
  const auto answer = [&revision](const Request& request) {
    ProtoWriter message;
    message.message(1, header_of(revision));
    if (request.path().ends_with("/Txn")) message.number(2, 1);
    return Http2Server::Answer{codec::encode_grpc_message(message.take())};
  };
  site.a.manner = site.b.manner = answer;
  std::vector<std::string> told;
  site.store->seen().when_set_back(
      [&told](const std::string& what) { told.push_back(what.substr(0, what.find(":"))); });
  using Told = decltype(told);
  ASSERT_TRUE(site.get() && site.get());
  revision = 8;
  ASSERT_TRUE(site.put() && site.get());
  EXPECT_EQ(told, Told()) << "to read changes nothing";
  ASSERT_TRUE(site.put());
  EXPECT_EQ(told, (Told{"the store was at revision 8, and what it says is of 8"}))
      << "to write does";
  revision = 9;
  ASSERT_TRUE(site.put());
  revision = 5;
  ASSERT_TRUE(site.get());
  EXPECT_EQ(told, (Told{"the store was at revision 8, and what it says is of 8",
                        "the store was at revision 9, and what it says is of 5"}));
  ASSERT_TRUE(site.get());
  EXPECT_EQ(told.size(), 2U) << "once";
}

/// Before anybody gets what was listed; and who may not read the beat lists all the same.
SIM_TEST_SEEDS(EtcdClient, AnOlderCopyWithHigherRevisionsIsNoticedByAList, 1) {
  Site site(sim);
  std::int64_t revision = 7;
  std::string beat = "41";
  bool denied = false;
  site.a.manner = site.b.manner = [&](const Request& request) -> Answer {
    const bool asks_beat = request.data.contains(store::kBeatKey);
    if (asks_beat && denied) return refuse(7, "etcdserver: permission denied");
    ProtoWriter message;
    message.message(1, header_of(revision));
    if (asks_beat) {
      ProtoWriter key;
      key.bytes(1, "/p/" + std::string(store::kBeatKey));
      key.bytes(5, beat);
      message.message(2, key.take());
    }
    return Http2Server::Answer{codec::encode_grpc_message(message.take())};
  };
  int told = 0;
  site.store->seen().when_set_back([&told](const std::string&) { ++told; });
  const auto list = [&] {
    auto keys = store::KeyRange::prefix("incident/");
    return run_task(sim, site.us, site.store->list(std::move(keys), site.us.deadline_in(1s)))
        .has_value();
  };
  ASSERT_TRUE(list() && list());
  revision = 1'000'000'007;
  beat = "42";
  ASSERT_TRUE(list());
  EXPECT_EQ(told, 0);
  beat = "40";
  ASSERT_TRUE(list());
  EXPECT_EQ(told, 1);
  ASSERT_TRUE(list());
  EXPECT_EQ(told, 1);
  denied = true;
  ASSERT_TRUE(list());
  EXPECT_EQ(told, 1);
}

}  // namespace
}  // namespace wardmote::sim
