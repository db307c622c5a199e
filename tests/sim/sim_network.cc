#include "sim/sim_network.h"

#include <algorithm>
#include <utility>

#include "sim/sim_runtime.h"
#include "sim/world.h"

namespace wardmote::sim {

using runtime::Deadline;
using runtime::Endpoint;
using runtime::Listener;
using runtime::Stream;
using runtime::Task;
using namespace std::chrono_literals;

namespace {

constexpr Duration kLocalDelay = 5us;
constexpr Duration kResend = 200ms;
constexpr Duration kSynResend = 1s;
constexpr Duration kUnixRetry = 10ms;

}  // namespace

/// A TCP connect under way. The one who connects may give up first.
struct SimNetwork::Attempt {
  Attempt(SimRuntime& by, SimRuntime& on, Address address)
      : from(&by), to(&on), at(std::move(address)), answer(by) {}

  SimRuntime* from;
  SimRuntime* to;
  Address at;
  Parking answer;
  std::shared_ptr<Connection> connection;  ///< as soon as the other side has made it
  bool connected = false;
  bool refused = false;
  bool abandoned = false;
};

class SimListener final : public Listener {
 public:
  SimListener(SimNetwork& network, std::unique_ptr<SimNetwork::Queue> queue)
      : network_(&network), queue_(std::move(queue)) {}
  ~SimListener() override {
    const auto here = network_->listeners_.find(queue_->at);
    if (here != network_->listeners_.end() && here->second == queue_.get())
      network_->listeners_.erase(here);
    for (const auto& connection : queue_->waiting) connection->reset(1);
  }

  Task<Result<std::unique_ptr<Stream>>> accept() override {
    while (queue_->waiting.empty()) co_await queue_->acceptor.wait();
    std::shared_ptr<Connection> connection = std::move(queue_->waiting.front());
    queue_->waiting.pop_front();
    co_return std::make_unique<SimStream>(std::move(connection), 1);
  }

 private:
  SimNetwork* network_;
  std::unique_ptr<SimNetwork::Queue> queue_;
};

Link& SimNetwork::link(const std::string& from, const std::string& to) {
  return links_.try_emplace({from, to}, default_link_).first->second;
}

void SimNetwork::cut(const std::string& a, const std::string& b) {
  cut_one_way(a, b);
  cut_one_way(b, a);
}

void SimNetwork::heal() {
  isolated_.clear();
  for (auto& [ends, link] : links_) link.cut = false;
}

bool SimNetwork::passes(const SimRuntime& from, const SimRuntime& to) {
  if (from.host() == to.host()) return true;
  return !link(from.host(), to.host()).cut && !isolated_.contains(from.host()) &&
         !isolated_.contains(to.host());
}

bool SimNetwork::resets(const SimRuntime& from, const SimRuntime& to) {
  return from.host() != to.host() && world_->random().chance(link(from.host(), to.host()).reset);
}

Duration SimNetwork::travel_time(const SimRuntime& from, const SimRuntime& to, std::size_t bytes) {
  if (from.host() == to.host()) return kLocalDelay;
  const Link& way = link(from.host(), to.host());
  runtime::Random& random = world_->random();
  Duration time =
      way.delay + Duration(random.below(static_cast<std::uint64_t>(way.jitter.count())));
  for (Duration resend = kResend; random.chance(way.loss); resend *= 2) time += resend;
  if (way.bytes_per_second > 0)
    time += std::chrono::nanoseconds(bytes * 1'000'000'000 / way.bytes_per_second);
  return time;
}

SimNetwork::Address SimNetwork::address_of(const SimRuntime& from, const Endpoint& to) {
  if (to.kind == Endpoint::Kind::kUnix) return {from.host(), to.path};
  const bool local = to.host == "127.0.0.1" || to.host == "::1" || to.host == "localhost";
  return {local ? from.host() : to.host, std::to_string(to.port)};
}

SimNetwork::Queue* SimNetwork::listener(const Address& at) {
  const auto found = listeners_.find(at);
  return found == listeners_.end() ? nullptr : found->second;
}

std::shared_ptr<Connection> SimNetwork::establish(SimRuntime& from, Queue& queue) {
  const auto connection =
      std::make_shared<Connection>(*this, next_connection_++, from, *queue.host);
  connections_[connection->id] = connection.get();
  queue.waiting.push_back(connection);
  queue.acceptor.wake();
  return connection;
}

Task<Result<std::unique_ptr<Stream>>> SimNetwork::connect(SimRuntime* from, Endpoint to,
                                                          Deadline deadline) {
  if (from->exhausted()) co_return fail(Errc::kExhausted, "{}: open a socket", to_string(to));
  Result<std::unique_ptr<Stream>> stream = fail(Errc::kInternal, "connect");
  const Address address = address_of(*from, to);
  if (to.kind == Endpoint::Kind::kUnix) {
    stream = co_await connect_unix(from, address, deadline);
  } else {
    stream = co_await connect_tcp(from, address, deadline);
  }
  if (!stream) co_return with_context(stream, "{}", to_string(to));
  co_return stream;
}

Task<Result<std::unique_ptr<Stream>>> SimNetwork::connect_unix(SimRuntime* from, Address to,
                                                               Deadline deadline) {
  for (;;) {
    Queue* const queue = listener(to);
    if (queue == nullptr) {
      co_return fail(left_over_.contains(to) ? Errc::kRefused : Errc::kMissing, "connect");
    }
    if (!queue->full()) co_return std::make_unique<SimStream>(establish(*from, *queue), 0);
    if (deadline.passed(from->now())) co_return fail(Errc::kTimeout, "connect: its queue is full");
    co_await from->sleep_until(std::min(from->now() + kUnixRetry, deadline.at));
  }
}

Task<Result<std::unique_ptr<Stream>>> SimNetwork::connect_tcp(SimRuntime* from, Address to,
                                                              Deadline deadline) {
  SimRuntime* const host = world_->find_host(to.host);
  if (host == nullptr) co_return fail(Errc::kMissing, "resolve {}", to.host);
  if (link(from->host(), to.host).no_route) co_return fail(Errc::kUnreachable, "connect");
  const auto attempt = std::make_shared<Attempt>(*from, *host, to);
  // However this is left, a late answer must find that nobody waits.
  struct Leave {
    Attempt* attempt;
    ~Leave() { attempt->abandoned = !attempt->connected; }
  } const leave{attempt.get()};
  Duration patience = kSynResend;
  TimePoint resend = from->now();
  while (!attempt->connected && !attempt->refused && !deadline.passed(from->now())) {
    if (from->now() >= resend) {
      send_syn(attempt);
      resend += patience;
      patience *= 2;
    }
    co_await attempt->answer.wait_until(std::min(resend, deadline.at));
  }
  if (attempt->refused) co_return fail(Errc::kRefused, "connect");
  if (!attempt->connected) co_return fail(Errc::kTimeout, "connect");
  co_return std::make_unique<SimStream>(attempt->connection, 0);
}

void SimNetwork::send_syn(const std::shared_ptr<Attempt>& attempt) {
  const Duration travel = travel_time(*attempt->from, *attempt->to, 0);
  world_->schedule(world_->now() + travel, [this, attempt] {
    if (!attempt->to->gone() && passes(*attempt->from, *attempt->to)) answer_syn(attempt);
  });
}

void SimNetwork::answer_syn(const std::shared_ptr<Attempt>& attempt) {
  Queue* const queue = listener(attempt->at);
  if (queue != nullptr && !attempt->connection) {
    if (queue->full()) return;  // Linux drops it
    attempt->connection = establish(*attempt->from, *queue);
  }
  const bool refused = !attempt->connection;
  const Duration travel = travel_time(*attempt->to, *attempt->from, 0);
  world_->schedule(world_->now() + travel, [this, attempt, refused] {
    if (attempt->from->gone() || !passes(*attempt->to, *attempt->from)) return;
    if (attempt->abandoned && attempt->connection) attempt->connection->reset(0);
    attempt->refused = refused;
    attempt->connected = !refused && !attempt->abandoned;
    attempt->answer.wake();
  });
}

Result<std::unique_ptr<Listener>> SimNetwork::listen(SimRuntime& host, const Endpoint& at) {
  const Address address = address_of(host, at);
  if (listener(address) != nullptr) return fail(Errc::kRefused, "{}: listen", to_string(at));
  left_over_.erase(address);
  auto queue = std::make_unique<Queue>(host, address);
  listeners_[address] = queue.get();
  return std::make_unique<SimListener>(*this, std::move(queue));
}

void SimNetwork::drop_listeners(const SimRuntime& host) {
  for (auto it = listeners_.begin(); it != listeners_.end();) {
    if (it->second->host != &host) {
      ++it;
      continue;
    }
    // The file of a unix socket outlives its process.
    if (it->first.socket.contains('/')) left_over_.insert(it->first);
    it = listeners_.erase(it);
  }
}

void SimNetwork::reset_all(SimRuntime& host) {
  drop_listeners(host);
  for (const auto& [id, connection] : connections_) {
    for (const Connection::Side side : {0, 1}) {
      if (&connection->host(side) == &host) connection->reset(side);
    }
  }
}

void SimNetwork::forget_all(SimRuntime& host) {
  drop_listeners(host);
  for (const auto& [id, connection] : connections_) {
    for (const Connection::Side side : {0, 1}) {
      if (&connection->host(side) == &host) connection->forget(side);
    }
  }
}

}  // namespace wardmote::sim
