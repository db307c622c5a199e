#include "serve/event_stream.h"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "net/http_server.h"
#include "serve/api.h"
#include "serve/routes.h"
#include "sim/seeds.h"

namespace wardmote::sim {
namespace {

using runtime::Deadline;
using runtime::Endpoint;
using runtime::Stream;
using runtime::Task;
using serve::EventStream;
using namespace std::chrono_literals;

/// Somebody who follows the events, and what he has been sent.
struct Follower {
  std::string heard;
  bool closed = false;
  bool reads = true;  ///< else it is a client that stopped taking what it is sent
};

Task<void> follow(SimRuntime* from, Endpoint at, std::string last_id, Follower* into) {
  const Deadline deadline = from->deadline_in(10h);
  Result<std::unique_ptr<Stream>> stream = co_await from->connect(at, deadline);
  if (!stream) co_return;
  const std::string request =
      "GET /api/v1/events HTTP/1.1\r\nHost: localhost\r\nLast-Event-ID: " + last_id + "\r\n\r\n";
  const Result<void> sent = co_await (*stream)->write(request, deadline);
  if (!sent) co_return;
  std::array<char, 4096> chunk;
  for (;;) {
    while (!into->reads) co_await from->sleep_until(from->now() + 1s);
    const Result<std::size_t> got = co_await (*stream)->read_some(chunk, deadline);
    if (!got) break;
    into->heard.append(chunk.data(), *got);
  }
  into->closed = true;
}

/// A server of events on one host, and clients on another.
class Service {
 public:
  explicit Service(World& world) : sim(world) {
    api.add(serve::events_route(events));
    const auto started =
        server.start(at, {.connections = 200},
                     [this](const runtime::HttpRequest& asked) { return api.answer(asked); });
    EXPECT_TRUE(started) << started.error().describe();
  }
  ~Service() {
    sim.run(us, server.stop());
    sim.run(us, events.stop());
  }

  void publish(int count, std::size_t size = 0) { sim.run(us, publish_from(this, count, size)); }
  static Task<void> publish_from(Service* self, int count, std::size_t size) {
    for (int i = 0; i < count; ++i) {
      const judge::Change change{.sequence = ++self->sequence,
                                 .at = {},
                                 .of = {judge::ThingKind::kGate, "ready"},
                                 .event = judge::GateChanged{.open = true}};
      serve::ChangeText text{.kind = "gate_opened"};
      text.data = size == 0 ? "{}" : "{\"x\":\"" + std::string(size, 'x') + "\"}";
      self->events.publish(change, text);
    }
    co_return;
  }

  Follower& start_follower(std::string last_id = "") {
    followers.push_back(std::make_unique<Follower>());
    clients.spawn("follower", follow(&clients, at, std::move(last_id), followers.back().get()));
    sim.run_for(1s);
    return *followers.back();
  }

  World& sim;
  SimRuntime& us = sim.host("us");
  SimRuntime& clients = sim.host("clients");
  Endpoint at = Endpoint::tcp("us", 9470);
  std::uint64_t sequence = 0;
  serve::AgentView view;
  EventStream events{us};
  serve::Api api{[this]() -> const serve::AgentView& { return view; }, {}};
  net::StreamHttpServer server{us};
  std::vector<std::unique_ptr<Follower>> followers;
};

long count(const std::string& text, std::string_view what) {
  long found = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) {
    ++found;
  }
  return found;
}

/// The sequences of the events, in the order in which they were heard.
std::vector<std::uint64_t> sequences(const std::string& heard) {
  std::vector<std::uint64_t> all;
  constexpr std::string_view kKey = "\"sequence\":";
  for (std::size_t at = heard.find(kKey); at != std::string::npos; at = heard.find(kKey, at + 1)) {
    all.push_back(std::stoull(heard.substr(at + kKey.size())));
  }
  return all;
}

std::vector<std::uint64_t> from_to(std::uint64_t first, std::uint64_t last) {
  std::vector<std::uint64_t> all;
  for (; first <= last; ++first) all.push_back(first);
  return all;
}

SIM_TEST_SEEDS(EventStream, AFollowerHearsWhatHappensFromNowOn, 20) {
  Service service(sim);
  service.publish(3);
  const std::string now = service.events.last_id();
  const Follower& follower = service.start_follower();
  EXPECT_TRUE(follower.heard.contains("HTTP/1.1 200 OK\r\n")) << follower.heard;
  EXPECT_TRUE(follower.heard.contains("Content-Type: text/event-stream\r\n"));
  EXPECT_FALSE(follower.heard.contains("Content-Length"));
  EXPECT_TRUE(follower.heard.ends_with("id: " + now + "\nevent: hello\ndata: {}\n\n"));
  service.publish(2);
  sim.run_for(1s);
  EXPECT_EQ(sequences(follower.heard), from_to(4, 5));
  EXPECT_TRUE(follower.heard.contains(
      "id: " + now.substr(0, now.find('-')) +
      "-4\ndata: {\"sequence\":4,\"at\":\"1970-01-01T00:00:00.000Z\",\"kind\":\"gate_opened\","
      "\"scope\":\"gate\",\"subject\":\"ready\",\"data\":{}}\n\n"))
      << follower.heard;
}

SIM_TEST_SEEDS(EventStream, WhoComesBackMissesNothingAndHearsNothingTwice, 20) {
  Service service(sim);
  service.publish(3);
  const std::string left_at = service.events.last_id();
  service.publish(4000);
  const Follower& follower = service.start_follower(left_at);
  service.publish(10);
  sim.run_for(5s);
  EXPECT_EQ(sequences(follower.heard), from_to(4, 4013));
  EXPECT_EQ(count(follower.heard, "event: hello"), 1);
}

SIM_TEST_SEEDS(EventStream, WhoseIdIsNotKnownIsToldToReadTheStateAnew, 1) {
  Service service(sim);
  service.publish(3);
  const std::string run = service.events.last_id().substr(0, service.events.last_id().find('-'));
  for (const std::string& id : {std::string("17-1"), run + "-4", run + "-", run + "-x", run,
                                std::string("-1"), run + "-18446744073709551615"}) {
    const Follower& follower = service.start_follower(id);
    EXPECT_TRUE(follower.heard.contains("event: reset\n")) << id;
    EXPECT_EQ(sequences(follower.heard), from_to(1, 0)) << id;
  }
}

SIM_TEST_SEEDS(EventStream, OldEventsAreForgottenByCountAndBySize, 1) {
  Service service(sim);
  service.publish(1);
  const std::string first = service.events.last_id();
  service.publish(1000, 10'000);
  EXPECT_TRUE(service.start_follower(first).heard.contains("event: reset\n")) << "10 MB";
  const std::string later = service.events.last_id();
  service.publish(70'000);
  EXPECT_TRUE(service.start_follower(later).heard.contains("event: reset\n"));
}

SIM_TEST_SEEDS(EventStream, AQuietConnectionHearsAHeartbeat, 5) {
  Service service(sim);
  const Follower& follower = service.start_follower();
  sim.run_for(21s);
  EXPECT_GE(count(follower.heard, "\n\n:\n\n"), 1) << "within 20 s";
  sim.run_for(10min);
  EXPECT_GE(count(follower.heard, "\n:\n\n"), 10 * 60 / 20);
  EXPECT_LE(count(follower.heard, "\n:\n\n"), 10 * 60 / 10);
  EXPECT_FALSE(follower.closed);
}

SIM_TEST_SEEDS(EventStream, ASlowReaderIsDroppedAndDelaysNobody, 10) {
  Service service(sim);
  Follower& slow = service.start_follower();
  const Follower& fast = service.start_follower();
  slow.reads = false;
  service.publish(2000, 2'000);
  sim.run_for(2s);
  EXPECT_EQ(sequences(fast.heard).size(), 2000U);
  sim.run_for(20s);
  EXPECT_EQ(service.events.readers(), 1U) << "no piece was taken for ten seconds";
  slow.reads = true;
  sim.run_for(5s);
  EXPECT_TRUE(slow.closed);
  EXPECT_LT(sequences(slow.heard).size(), 2000U);
  EXPECT_FALSE(fast.closed);
}

SIM_TEST_SEEDS(EventStream, ForgetsWhoLeaves, 10) {
  Service service(sim);
  service.start_follower();
  service.start_follower();
  EXPECT_EQ(service.events.readers(), 2U);
  service.clients.crash();
  sim.run_for(1s);
  EXPECT_EQ(service.events.readers(), 0U) << "without waiting for a heartbeat";
}

SIM_TEST_SEEDS(EventStream, ManyFollowersHearEverythingInOrder, 3) {
  Service service(sim);
  std::vector<const Follower*> all;
  for (int i = 0; i < 90; ++i) all.push_back(&service.start_follower());
  for (int i = 0; i < 20; ++i) {
    service.publish(1 + static_cast<int>(sim.random().below(30)));
    sim.run_for(Duration(static_cast<std::int64_t>(sim.random().below(20'000'000))));
  }
  sim.run_for(1s);
  for (const Follower* const one : all) {
    ASSERT_EQ(sequences(one->heard), from_to(1, service.sequence));
  }
}

SIM_TEST_SEEDS(EventStream, TheServerEndsItsStreamsWhenItStops, 5) {
  Follower* follower = nullptr;
  {
    Service service(sim);
    follower = service.followers.emplace_back(std::make_unique<Follower>()).get();
    service.clients.spawn("follower", follow(&service.clients, service.at, "", follower));
    sim.run_for(1s);
    EXPECT_EQ(service.events.readers(), 1U);
    sim.run(service.us, service.server.stop());
    EXPECT_EQ(service.events.readers(), 0U);
    sim.run_for(1s);
    EXPECT_TRUE(follower->closed);
    service.clients.crash();
  }
}

}  // namespace
}  // namespace wardmote::sim
