#include "sim/connection.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "sim/sim_network.h"
#include "sim/sim_runtime.h"
#include "sim/world.h"

namespace wardmote::sim {

using runtime::Deadline;
using runtime::Task;
using namespace std::chrono_literals;

namespace {

/// As much as Linux buffers for a unix stream by default (net.core.wmem_default).
constexpr std::size_t kBuffer = 208 << 10;
constexpr Duration kFirstPatience = 200ms;  // TCP_RTO_MIN
constexpr Duration kLongestPatience = 5s;
constexpr double kSplit = 0.2;

}  // namespace

Connection::Connection(SimNetwork& network, std::uint64_t number, SimRuntime& connecting,
                       SimRuntime& accepting)
    : id(number), network_(&network), ends_{End(connecting), End(accepting)} {}

Connection::~Connection() {
  network_->forget(*this);
}

std::size_t Connection::room_towards(Side to) const noexcept {
  std::size_t unread = ends_[to].arrived.size();
  for (const Segment& segment : ends_[to].on_the_way) unread += segment.bytes.size();
  return unread < kBuffer ? kBuffer - unread : 0;
}

std::size_t Connection::send(Side from, std::string_view bytes) {
  const Side to = peer(from);
  bytes = bytes.substr(0, room_towards(to));
  if (bytes.empty()) return 0;
  // Readers must not believe that a message comes in one piece.
  runtime::Random& random = network_->world().random();
  const std::size_t cut =
      bytes.size() > 1 && random.chance(kSplit) ? 1 + random.below(bytes.size() - 1) : bytes.size();
  put(to, std::string(bytes.substr(0, cut)));
  if (cut < bytes.size()) put(to, std::string(bytes.substr(cut)));
  return bytes.size();
}

void Connection::put(Side to, std::string bytes) {
  End& end = ends_[to];
  const TimePoint now = network_->world().now();
  TimePoint due = now + network_->travel_time(*ends_[peer(to)].host, *end.host, bytes.size());
  if (!end.on_the_way.empty()) due = std::max(due, end.on_the_way.back().due);
  end.on_the_way.push_back({std::move(bytes), due});
  if (!end.moving) schedule_arrival(to, due);
}

void Connection::schedule_arrival(Side to, TimePoint at) {
  ends_[to].moving = true;
  network_->world().schedule(at, [self = shared_from_this(), to] { self->arrive(to); });
}

void Connection::arrive(Side to) {
  End& end = ends_[to];
  SimRuntime& sender = *ends_[peer(to)].host;
  end.moving = false;
  if (end.on_the_way.empty()) return;  // a reset was faster
  if (end.host->gone() || !network_->passes(sender, *end.host)) {
    end.patience = std::clamp(2 * end.patience, kFirstPatience, kLongestPatience);
    // A sender that is gone itself sends nothing again.
    if (ends_[peer(to)].known) schedule_arrival(to, network_->world().now() + end.patience);
    return;
  }
  end.patience = {};
  if (network_->resets(sender, *end.host)) {
    end_by_reset(0);
    end_by_reset(1);
    return;
  }
  deliver(to);
  if (!end.on_the_way.empty() && !end.moving) schedule_arrival(to, end.on_the_way.front().due);
}

void Connection::deliver(Side to) {
  End& end = ends_[to];
  Segment segment = std::move(end.on_the_way.front());
  end.on_the_way.pop_front();
  World& world = network_->world();
  world.trace(id * 2 + to);
  world.trace(segment.bytes);
  if (segment.bytes.empty()) {
    end.fin = true;
  } else if (end.known && end.open) {
    end.arrived += segment.bytes;
  } else {
    send_reset(peer(to));
    return;
  }
  end.readable.wake();
}

std::string Connection::receive(Side at, std::size_t most) {
  End& end = ends_[at];
  std::string taken = end.arrived.substr(0, most);
  end.arrived.erase(0, taken.size());
  ends_[peer(at)].writable.wake();
  return taken;
}

void Connection::close(Side at) {
  End& end = ends_[at];
  if (!end.open) return;
  end.open = false;
  end.readable.wake();
  end.writable.wake();
  if (!end.known) return;
  // Linux resets a connection that is closed with unread bytes.
  if (end.arrived.empty()) {
    put(peer(at), {});
  } else {
    reset(at);
  }
}

void Connection::reset(Side at) {
  if (!ends_[at].known) return;
  end_by_reset(at);
  send_reset(peer(at));
}

void Connection::forget(Side at) {
  ends_[at].known = false;
  ends_[at].reset = true;
  ends_[at].readable.wake();
  ends_[at].writable.wake();
}

void Connection::send_reset(Side to) {
  SimRuntime& sender = *ends_[peer(to)].host;
  const Duration travel = network_->travel_time(sender, *ends_[to].host, 0);
  network_->world().schedule(network_->world().now() + travel, [self = shared_from_this(), to] {
    const SimRuntime& from = *self->ends_[peer(to)].host;
    const SimRuntime& host = *self->ends_[to].host;
    // Not sent again when it is lost: whoever sends to a forgotten connection is told then.
    if (!host.gone() && self->network_->passes(from, host)) self->end_by_reset(to);
  });
}

void Connection::end_by_reset(Side at) {
  End& end = ends_[at];
  network_->world().trace(id * 2 + at);
  end.arrived.clear();
  ends_[peer(at)].on_the_way.clear();
  forget(at);
}

Task<Result<std::size_t>> SimStream::read_some(std::span<char> into, Deadline deadline) {
  SimRuntime& host = connection_->host(side_);
  for (;;) {
    if (connection_->dead(side_)) co_return fail(Errc::kClosed, "read");
    if (deadline.passed(host.now())) co_return fail(Errc::kTimeout, "read");
    const std::string got = connection_->receive(side_, into.size());
    if (!got.empty()) {
      std::ranges::copy(got, into.begin());
      co_return got.size();
    }
    if (connection_->at_end(side_)) co_return fail(Errc::kClosed, "read");
    co_await connection_->readable(side_).wait_until(deadline.at);
  }
}

Task<Result<void>> SimStream::write(std::string_view bytes, Deadline deadline) {
  SimRuntime& host = connection_->host(side_);
  while (!bytes.empty()) {
    if (connection_->dead(side_)) co_return fail(Errc::kClosed, "write");
    if (deadline.passed(host.now())) co_return fail(Errc::kTimeout, "write");
    const std::size_t sent = connection_->send(side_, bytes);
    bytes.remove_prefix(sent);
    if (sent == 0) co_await connection_->writable(side_).wait_until(deadline.at);
  }
  co_return Result<void>();
}

}  // namespace wardmote::sim
