#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/datagrams.h"
#include "sim/parking.h"
#include "sim/sim_runtime.h"
#include "sim/world.h"

namespace wardmote::sim {

/// A datagram socket whose other side is a function of the test's.
class FakeDatagrams final : public runtime::Datagrams {
 public:
  FakeDatagrams(SimRuntime& host, runtime::DatagramTarget to, SimRuntime::DatagramPeer peer)
      : host_(&host), to_(std::move(to)), peer_(std::move(peer)) {}
  ~FakeDatagrams() override {
    for (const World::EventId id : under_way_) host_->world().cancel(id);
  }

  Result<void> send(std::string_view bytes) override {
    for (SimRuntime::Answer& answer : peer_(to_, std::string(bytes))) {
      under_way_.push_back(host_->world().schedule(
          host_->now() + answer.after, [this, bytes = std::move(answer.bytes)]() mutable {
            arrived_.push_back(std::move(bytes));
            receiver_.wake();
          }));
    }
    return {};
  }

  runtime::Task<Result<std::size_t>> receive(std::span<char> into,
                                             runtime::Deadline deadline) override {
    while (arrived_.empty()) {
      if (deadline.passed(host_->now())) co_return fail(Errc::kTimeout, "receive");
      const Alarm alarm(host_->world(), deadline.at, [this] { receiver_.wake(); });
      co_await receiver_.wait();
    }
    const std::string bytes = std::move(arrived_.front());
    arrived_.pop_front();
    std::ranges::copy(std::string_view(bytes).substr(0, into.size()), into.begin());
    co_return bytes.size();
  }

  [[nodiscard]] std::string address() const override { return to_.host; }

 private:
  SimRuntime* host_;
  runtime::DatagramTarget to_;
  SimRuntime::DatagramPeer peer_;
  std::deque<std::string> arrived_;
  std::vector<World::EventId> under_way_;
  Parking receiver_ = Parking(*host_);
};

}  // namespace wardmote::sim
