#include "unit/observe/fake_server.h"

#include <unistd.h>

#include <algorithm>
#include <boost/json/serialize.hpp>
#include <chrono>

namespace wardmote::testing {

using runtime::Stream;
using runtime::Task;
using namespace std::chrono_literals;

FakeServer::FakeServer(runtime::Runtime& runtime, runtime::TaskGroup& tasks, std::string path,
                       FakeManners manners)
    : runtime_(runtime), tasks_(tasks), path_(std::move(path)), manners_(std::move(manners)) {
  auto listener = runtime_.listen(runtime::Endpoint::unix_socket(path_));
  check(listener.has_value(), listener ? "" : listener.error().describe());
  listener_ = *std::move(listener);
  if (manners_.accepts) tasks_.spawn("fake_server", accept_all());
}

Task<void> FakeServer::accept_all() {
  for (;;) {
    auto stream = co_await listener_->accept();
    if (!stream) co_return;
    ++connections_;
    std::shared_ptr<Stream> shared = *std::move(stream);
    open_.push_back(shared);
    tasks_.spawn("fake_connection", serve(std::move(shared)));
  }
}

Task<void> FakeServer::serve(std::shared_ptr<Stream> stream) {
  if (!manners_.greeting.empty()) co_await send(stream, manners_.greeting);
  codec::JsonRpcReader reader;
  for (int served = 0;;) {
    const auto next = reader.next();
    if (!next) co_return;
    if (*next) {
      const codec::RpcMessage& request = **next;
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
    const auto got = co_await stream->read_some(room, runtime_.deadline_in(60s));
    if (!got) co_return;
    reader.received(*got);
  }
}

Task<bool> FakeServer::send(std::shared_ptr<Stream> stream, std::string bytes) {
  do {
    for (std::string_view rest = bytes; !rest.empty();) {
      const std::string_view piece =
          rest.substr(0, manners_.step == 0 ? rest.size() : manners_.step);
      const auto written = co_await stream->write(piece, runtime_.deadline_in(60s));
      if (!written) co_return false;
      rest.remove_prefix(piece.size());
      if (manners_.step != 0) co_await runtime_.sleep_until(runtime_.now() + 1ms);
    }
  } while (manners_.endless);
  co_return true;
}

std::string FakeServer::reply_to(const codec::RpcMessage& request) const {
  const std::string id = boost::json::serialize(*request.id);
  if (!manners_.raw.empty() || manners_.results.empty()) {
    std::string reply = manners_.raw;
    const std::size_t at = reply.find("{ID}");
    if (at != std::string::npos) reply.replace(at, 4, id);
    return reply;
  }
  const auto result = manners_.results.find(request.method);
  if (result == manners_.results.end())
    return fmt::format(R"({{"id":{},"error":"unknown method"}})", id);
  return fmt::format(R"({{"id":{},"result":{},"error":null}})", id, result->second);
}

Task<void> FakeServer::push(std::string bytes) {
  for (const auto& weak : std::vector(open_)) {
    const std::shared_ptr<Stream> stream = weak.lock();
    if (stream) co_await send(stream, bytes);
  }
}

void FakeServer::hang_up() {
  for (const auto& weak : std::exchange(open_, {})) {
    if (const std::shared_ptr<Stream> stream = weak.lock()) stream->close();
  }
}

void FakeServer::leave() {
  hang_up();
  std::filesystem::remove(path_);
}

OvnWorld::OvnWorld()
    : folder_(std::filesystem::temp_directory_path() / fmt::format("wardmote-ovn-{}", ::getpid())),
      tasks_(runtime_.executor()) {
  std::filesystem::remove_all(folder_);
  std::filesystem::create_directories(folder_);
}

OvnWorld::~OvnWorld() {
  servers_.clear();
  std::filesystem::remove_all(folder_);
}

FakeServer& OvnWorld::serve(std::string_view name, FakeManners manners) {
  servers_.push_back(
      std::make_unique<FakeServer>(runtime_, tasks_, path(name), std::move(manners)));
  return *servers_.back();
}

void OvnWorld::run(Task<void> body) {
  constexpr auto then_stop = [](Task<void> inner, runtime::TaskGroup* tasks) -> Task<void> {
    co_await std::move(inner);
    co_await tasks->stop();
  };
  runtime_.run(then_stop(std::move(body), &tasks_));
}

Task<bool> eventually(runtime::Runtime* runtime, std::function<bool()> condition, Duration limit) {
  const TimePoint end = runtime->now() + limit;
  while (!condition() && runtime->now() < end) co_await runtime->sleep_until(runtime->now() + 1ms);
  co_return condition();
}

FakeManners healthy_manners(std::string_view status) {
  FakeManners manners;
  manners.results["cluster/status"] = codec::json_string(status);
  manners.results["transact"] = kLeaderRow;
  manners.results["echo"] = "[]";
  return manners;
}

}  // namespace wardmote::testing
