// Calls to etcd members that answer as a test says. What real members do is tried in
// tests/conformance and tests/integration.

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/result.h"
#include "base/time.h"
#include "codec/grpc.h"
#include "codec/http2_session.h"
#include "codec/protobuf.h"
#include "runtime/endpoint.h"
#include "runtime/stream.h"
#include "runtime/task.h"
#include "sim/sim_runtime.h"
#include "sim/world.h"
#include "store/etcd/client.h"
#include "support/fake_door.h"
#include "support/http2_server.h"

namespace wardmote::store::etcd {
namespace {

using codec::ProtoWriter;
using runtime::Endpoint;
using runtime::Task;
using sim::SimRuntime;
using sim::World;
using testing::Http2Server;
using namespace std::chrono_literals;

constexpr std::string_view kLogIn = "/etcdserverpb.Auth/Authenticate";

/// A member that asks for a token.
class FakeMember {
 public:
  FakeMember(SimRuntime& host, Endpoint at)
      : host_(host),
        door_(
            host,
            [&host](std::string name, Task<void> task) {
              host.spawn(std::move(name), std::move(task));
            },
            "etcd", std::move(at), [this](auto stream) { return serve(this, std::move(stream)); }) {
    door_.open();
  }

  int log_ins = 0;
  std::vector<std::string> calls;  ///< the tokens that came with them
  std::string good_token = "t1";
  bool hangs = false;     ///< takes connections, and answers nothing
  bool refuses = false;   ///< a wrong password
  bool auth_off = false;  ///< no users at all
  testing::FakeDoor& door() { return door_; }

 private:
  std::optional<Http2Server::Answer> answer(const Http2Server::Request& request) {
    if (hangs) return std::nullopt;
    if (request.path() == kLogIn) return log_in();
    std::string token;
    for (const codec::HeaderField& field : request.headers)
      if (field.name == "token") token = field.value;
    calls.push_back(token);
    if (!auth_off && token != good_token) {
      Http2Server::Answer stale;
      stale.trailers = {{"grpc-status", "16"}, {"grpc-message", "etcdserver: invalid auth token"}};
      return stale;
    }
    return Http2Server::Answer{codec::encode_grpc_message("done"), {{"grpc-status", "0"}}};
  }
  std::optional<Http2Server::Answer> log_in() {
    ++log_ins;
    if (refuses || auth_off) {
      Http2Server::Answer no;
      const std::string_view why =
          refuses ? "etcdserver: authentication failed, invalid user ID or password"
                  : "etcdserver: authentication is not enabled";
      no.trailers = {{"grpc-status", refuses ? "3" : "9"}, {"grpc-message", std::string(why)}};
      return no;
    }
    ProtoWriter message;
    message.bytes(2, good_token);
    return Http2Server::Answer{codec::encode_grpc_message(message.take()), {{"grpc-status", "0"}}};
  }
  static Task<void> serve(FakeMember* member, std::shared_ptr<runtime::Stream> stream) {
    Http2Server server([member](const auto& request) { return member->answer(request); });
    for (;;) {
      std::array<char, 4096> chunk;
      const auto got = co_await stream->read_some(chunk, member->host_.deadline_in(1h));
      if (!got) co_return;
      server.receive(std::string_view(chunk.data(), *got));
      const std::string output = server.take_output();
      const auto sent = co_await stream->write(output, member->host_.deadline_in(1h));
      if (!sent) co_return;
    }
  }

  SimRuntime& host_;
  testing::FakeDoor door_;
};

class EtcdClientTest : public ::testing::Test {
 protected:
  ~EtcdClientTest() override {
    world_.run(us_, client_.stop());
    host_.crash();
  }

  Result<std::string> call(Client::Repeat repeat = Client::Repeat::kSafe, Duration patience = 5s) {
    return run_task(world_, us_, client_.call("/a.B/C", "x", repeat, us_.deadline_in(patience)));
  }

  World world_{1};
  SimRuntime& us_ = world_.host("us");
  SimRuntime& host_ = world_.host("a");
  FakeMember first_{host_, Endpoint::tcp("a", 2379)};
  FakeMember second_{host_, Endpoint::tcp("a", 2380)};
  Client client_{us_,
                 {.endpoints = {Endpoint::tcp("a", 2379), Endpoint::tcp("a", 2380)},
                  .user = "wardmote",
                  .password = "p"}};
};

TEST_F(EtcdClientTest, OneTokenServesAllCalls) {
  for (int turn = 0; turn < 3; ++turn) ASSERT_EQ(call(), "done");
  EXPECT_EQ(first_.log_ins, 1);
  EXPECT_EQ(first_.calls, (std::vector<std::string>{"t1", "t1", "t1"}));
}

TEST_F(EtcdClientTest, AnotherIsFetchedOnceWhenItIsNotTakenAnyMore) {
  ASSERT_EQ(call(Client::Repeat::kNever), "done");
  first_.good_token = "t2";
  ASSERT_EQ(call(Client::Repeat::kNever), "done") << "nothing was done with the old one";
  EXPECT_EQ(first_.log_ins, 2);
  first_.good_token = "t3";
  first_.refuses = true;
  EXPECT_FALSE(call());
  EXPECT_EQ(first_.log_ins, 3) << "a wrong password is not tried again, here or elsewhere";
  EXPECT_EQ(second_.log_ins, 0);
}

TEST_F(EtcdClientTest, WithoutUsersNobodyIsAskedForAToken) {
  first_.auth_off = true;
  for (int turn = 0; turn < 3; ++turn) ASSERT_EQ(call(), "done");
  EXPECT_EQ(first_.log_ins, 1);
  EXPECT_EQ(first_.calls, (std::vector<std::string>{"", "", ""}));
}

// It held on to the member for ever, and every call ended with a timeout.
TEST_F(EtcdClientTest, AMemberThatHangsWhileItIsAskedForATokenIsLeft) {
  first_.hangs = true;
  ASSERT_EQ(call(Client::Repeat::kNever), "done")
      << "to ask another one for a token is always safe";
  EXPECT_EQ(second_.log_ins, 1);
  first_.hangs = false;
  second_.hangs = true;
  ASSERT_EQ(call(Client::Repeat::kSafe), "done");
  EXPECT_EQ(first_.calls.size(), 1U);
}

TEST_F(EtcdClientTest, WhatMayHaveBeenDoneIsNotDoneTwice) {
  ASSERT_EQ(call(), "done");
  first_.hangs = true;
  const auto answer = call(Client::Repeat::kNever);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, Errc::kTimeout);
  EXPECT_TRUE(second_.calls.empty());
  ASSERT_EQ(call(Client::Repeat::kNever), "done") << "the next call goes elsewhere";
  EXPECT_EQ(second_.calls.size(), 1U);
}

TEST_F(EtcdClientTest, ACallerInAHurrySaysNothingAboutTheMember) {
  ASSERT_EQ(call(), "done");
  first_.hangs = true;
  EXPECT_FALSE(call(Client::Repeat::kNever, 100ms));
  first_.hangs = false;
  ASSERT_EQ(call(Client::Repeat::kNever), "done");
  EXPECT_TRUE(second_.calls.empty());
}

TEST_F(EtcdClientTest, NoMemberAtAllIsSaidInTime) {
  first_.hangs = second_.hangs = true;
  const auto begun = us_.now();
  const auto answer = call();
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, Errc::kTimeout);
  EXPECT_LE(us_.now() - begun, 6s);
}

}  // namespace
}  // namespace wardmote::store::etcd
