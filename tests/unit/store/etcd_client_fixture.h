#pragma once
// Members of etcd that are told what to answer, and a client of them.

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

namespace wardmote::sim {
using codec::ProtoWriter;
using runtime::Endpoint;
using runtime::Task;
using testing::Http2Server;
using Request = Http2Server::Request;
using Answer = std::optional<Http2Server::Answer>;
using namespace std::chrono_literals;

inline std::string header_of(std::int64_t revision) {
  ProtoWriter header;
  header.number(3, revision);
  return header.take();
}

/// RangeResponse, TxnResponse and LeaseGrantResponse, as far as the client reads them.
inline Answer answer_well(const Request& request) {
  ProtoWriter message;
  message.message(1, header_of(7));
  if (request.path().ends_with("/Txn")) message.number(2, 1);
  if (request.path().contains("/Lease")) {
    message.number(2, 5);
    message.number(3, 6);
  }
  if (request.path().ends_with("/Authenticate")) message.bytes(2, "token");
  return Http2Server::Answer{codec::encode_grpc_message(message.take())};
}

inline Answer refuse(int status, std::string words) {
  return Http2Server::Answer{
      "", {{"grpc-status", std::to_string(status)}, {"grpc-message", std::move(words)}}};
}

/// One member on a host of its own; `manner` may answer, refuse, or say nothing.
class Member {
 public:
  Member(World& world, const std::string& name) : host(world.host(name)), at_(at(name)) {
    const auto spawn = [this](std::string task_name, Task<void> task) {
      host.spawn(std::move(task_name), std::move(task));
    };
    door_ = std::make_unique<testing::FakeDoor>(
        host, spawn, "etcd", at_, [this](auto stream) { return serve(this, std::move(stream)); });
    door_->open();
  }
  static Endpoint at(const std::string& name) { return Endpoint::tcp(name, 2379); }
  [[nodiscard]] std::ptrdiff_t asked(std::string_view what) const {
    return std::ranges::count_if(paths, [&](const auto& path) { return path.ends_with(what); });
  }
  [[nodiscard]] int connections() const { return door_->connections(); }

  SimRuntime& host;
  std::function<Answer(const Request&)> manner = answer_well;
  Duration takes{};  ///< before each answer
  std::vector<std::string> paths;
  std::vector<std::string> tokens;

 private:
  static Task<void> serve(Member* member, std::shared_ptr<runtime::Stream> stream) {
    Http2Server server([member](const Request& request) {
      member->paths.push_back(request.path());
      const auto token = std::ranges::find(request.headers, "token", &codec::HeaderField::name);
      member->tokens.push_back(token == request.headers.end() ? "" : token->value);
      return member->manner(request);
    });
    for (;;) {
      std::array<char, 4096> chunk;
      const auto got = co_await stream->read_some(chunk, member->host.deadline_in(1h));
      if (!got) co_return;
      server.receive(std::string_view(chunk.data(), *got));
      const std::string answer = server.take_output();
      const bool asked = !std::exchange(server.requests, {}).empty();
      if (asked) co_await member->host.sleep_until(member->host.now() + member->takes);
      const auto sent = co_await stream->write(answer, member->host.deadline_in(1h));
      if (!sent) co_return;
    }
  }

  const Endpoint at_;
  std::unique_ptr<testing::FakeDoor> door_;
  Curfew ends_ = Curfew(host);
};

/// Two members, and a client of both.
struct Site {
  explicit Site(World& world, std::string user = "") : sim(world) {
    store::etcd::ClientOptions options{.endpoints = {Member::at("a"), Member::at("b")},
                                       .user = std::move(user)};
    store = std::make_unique<store::etcd::EtcdStore>(us, std::move(options), "/p/");
  }
  ~Site() { sim.run(us, store->stop()); }

  Result<store::Found> get(Duration patience = 10s) {
    return run_task(sim, us, store->get("k", us.deadline_in(patience)));
  }
  Result<store::Committed> put(Duration patience = 10s) {
    store::Transaction one;
    one.changes.emplace_back(store::Put{"k", "v"});
    return run_task(sim, us, store->put_if(std::move(one), us.deadline_in(patience)));
  }

  /// What the first member was asked last.
  const std::string& hear_what_is_asked() {
    a.manner = [this](const Request& request) {
      if (!request.data.contains(store::kBeatKey)) asked_ = request.data;
      return answer_well(request);
    };
    return asked_;
  }

  World& sim;
  SimRuntime& us = sim.host("us");
  Member a{sim, "a"};
  Member b{sim, "b"};
  std::unique_ptr<store::etcd::EtcdStore> store;

 private:
  std::string asked_;
};

}  // namespace wardmote::sim
