#pragma once

#include <algorithm>
#include <boost/json/serialize.hpp>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "codec/json_rpc.h"
#include "runtime/runtime.h"
#include "support/fake_door.h"

namespace wardmote::testing {

/// How a FakeServer behaves towards whoever connects.
struct FakeManners {
  /// The result for a method, as JSON text; a method that is not here gets the error "unknown
  /// method".
  std::map<std::string, std::string, std::less<>> results;
  /// Instead of results: what is written back for each request, `{ID}` standing for its id; empty:
  /// silence.
  std::string raw;
  /// Instead of both: the replies to the first, the second … request of all connections; the last
  /// goes on.
  std::vector<std::string> in_turn;
  std::string greeting;  ///< written right after accept
  bool accepts =
      true;  ///< false: connections stay in the kernel's queue, as with a stopped process
  bool endless = false;  ///< after the first request writes `raw` again and again
  std::size_t step = 0;  ///< write in pieces of so many bytes; 0: at once
  Duration pause = std::chrono::milliseconds(1);  ///< after each piece
  int closes_after = -1;  ///< so many requests of a connection, counting from 1
};

/// A server that answers as told; it stands for an ovsdb-server, good or hostile, on any Runtime.
/// Life cycle: outlives the tasks that it gives to `spawn`.
class FakeServer {
 public:
  using Spawn = FakeDoor::Spawn;

  FakeServer(runtime::Runtime& runtime, Spawn spawn, runtime::Endpoint at, FakeManners manners)
      : runtime_(runtime),
        manners_(std::move(manners)),
        door_(
            runtime, std::move(spawn), "fake_server", std::move(at),
            [this](std::shared_ptr<runtime::Stream> stream) { return serve(std::move(stream)); }) {
    if (manners_.accepts) door_.open();
  }

  [[nodiscard]] int connections() const noexcept { return door_.connections(); }
  /// The methods that were asked for, in order.
  [[nodiscard]] const std::vector<std::string>& requests() const noexcept { return requests_; }
  /// The ids of the replies that came to what was pushed.
  [[nodiscard]] const std::vector<std::string>& replies() const noexcept { return replies_; }
  FakeManners& manners() noexcept { return manners_; }

  /// Writes to every open connection.
  runtime::Task<void> push(std::string bytes) {
    const auto open = door_.callers();
    for (const auto& stream : open) co_await send(stream, bytes);
  }

  /// Closes every open connection.
  void hang_up() { door_.hang_up(); }

 private:
  runtime::Task<void> serve(std::shared_ptr<runtime::Stream> stream) {
    if (!manners_.greeting.empty()) co_await send(stream, manners_.greeting);
    codec::JsonRpcReader reader;
    for (int served = 0;;) {
      const auto next = reader.next();
      if (!next) co_return;
      if (*next) {
        const codec::RpcMessage& request = **next;
        if (request.kind == codec::RpcMessage::Kind::kReply) {
          replies_.push_back(boost::json::serialize(*request.id));
        }
        if (request.kind != codec::RpcMessage::Kind::kRequest) continue;
        requests_.emplace_back(request.method);
        const std::string reply = reply_to(request);
        const bool sent = co_await send(stream, reply);
        if (!sent || ++served == manners_.closes_after) {
          stream->close();
          co_return;
        }
        continue;
      }
      const std::span<char> room = reader.room();
      const auto got = co_await stream->read_some(room, runtime_.deadline_in(kFakePatience));
      if (!got) co_return;
      reader.received(*got);
    }
  }

  runtime::Task<bool> send(std::shared_ptr<runtime::Stream> stream, std::string bytes) {
    do {
      const bool sent =
          co_await write_in_pieces(&runtime_, stream, bytes, manners_.step, manners_.pause);
      if (!sent) co_return false;
    } while (manners_.endless);
    co_return true;
  }

  [[nodiscard]] std::string reply_to(const codec::RpcMessage& request) const {
    const std::string id = boost::json::serialize(*request.id);
    if (!manners_.in_turn.empty() || !manners_.raw.empty() || manners_.results.empty()) {
      std::string reply = manners_.raw;
      if (!manners_.in_turn.empty()) {
        const std::size_t turn = std::max<std::size_t>(requests_.size(), 1) - 1;
        reply = manners_.in_turn[std::min(turn, manners_.in_turn.size() - 1)];
      }
      const std::size_t at = reply.find("{ID}");
      if (at != std::string::npos) reply.replace(at, 4, id);
      return reply;
    }
    const auto result = manners_.results.find(request.method);
    if (result == manners_.results.end())
      return fmt::format(R"({{"id":{},"error":"unknown method"}})", id);
    return fmt::format(R"({{"id":{},"result":{},"error":null}})", id, result->second);
  }

  runtime::Runtime& runtime_;
  FakeManners manners_;
  FakeDoor door_;
  std::vector<std::string> requests_;
  std::vector<std::string> replies_;
};

/// A select result with one clustered row: the leader of 01-healthy.txt.
inline constexpr std::string_view kLeaderRow =
    R"([{"rows":[{"model":"clustered","leader":true,"connected":true,"sid":["uuid","dea645fa-f66d-419f-89d2-9ef5ed65767e"],)"
    R"("cid":["uuid","b563dad3-5d5e-4b38-a150-859542fb32c9"],"index":4}]}])";

/// Manners of a healthy member, for both of its sockets. `status` is the text of cluster/status.
inline FakeManners healthy_manners(std::string_view status) {
  FakeManners manners;
  manners.results["cluster/status"] = codec::json_string(status);
  manners.results["transact"] = kLeaderRow;
  manners.results["echo"] = "[]";
  return manners;
}

}  // namespace wardmote::testing
