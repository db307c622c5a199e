#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.h"
#include "runtime/runtime.h"

namespace wardmote::testing {

/// Of a fake that has all the time there is.
inline constexpr Duration kFakePatience = std::chrono::hours(1);

/// Where a fake is reached, on any Runtime: has `serve` see to each connection. Life cycle:
/// outlives the tasks that it gives to `spawn`.
class FakeDoor {
 public:
  using Spawn = std::function<void(std::string name, runtime::Task<void> task)>;
  using Serve = std::function<runtime::Task<void>(std::shared_ptr<runtime::Stream> stream)>;

  FakeDoor(runtime::Runtime& runtime, Spawn spawn, std::string name, runtime::Endpoint at,
           Serve serve)
      : spawn_(std::move(spawn)), name_(std::move(name)), serve_(std::move(serve)) {
    auto listener = runtime.listen(std::move(at));
    check(listener.has_value(), listener ? "" : listener.error().describe());
    listener_ = *std::move(listener);
  }

  /// Until then connections wait in the kernel's queue, as with a stopped process.
  void open() { spawn_(name_, accept_all()); }
  [[nodiscard]] int connections() const noexcept { return connections_; }
  /// Those who are connected.
  [[nodiscard]] std::vector<std::shared_ptr<runtime::Stream>> callers() const {
    std::vector<std::shared_ptr<runtime::Stream>> open;
    for (const auto& weak : callers_) {
      if (auto stream = weak.lock()) open.push_back(std::move(stream));
    }
    return open;
  }
  /// Closes every open connection, as a restart does.
  void hang_up() {
    for (const auto& stream : callers()) stream->close();
    callers_.clear();
  }

 private:
  runtime::Task<void> accept_all() {
    for (;;) {
      auto stream = co_await listener_->accept();
      if (!stream) co_return;
      ++connections_;
      std::shared_ptr<runtime::Stream> caller = *std::move(stream);
      callers_.push_back(caller);
      spawn_(name_ + "_client", serve_(std::move(caller)));
    }
  }

  Spawn spawn_;
  std::string name_;
  Serve serve_;
  std::unique_ptr<runtime::Listener> listener_;
  std::vector<std::weak_ptr<runtime::Stream>> callers_;
  int connections_ = 0;
};

/// Writes in pieces of `step` bytes, `pause` apart; 0: at once. False when nobody takes it.
inline runtime::Task<bool> write_in_pieces(runtime::Runtime* runtime,
                                           std::shared_ptr<runtime::Stream> stream,
                                           std::string bytes, std::size_t step,
                                           Duration pause = std::chrono::milliseconds(100)) {
  for (std::string_view rest = bytes; !rest.empty();) {
    const std::string_view piece = rest.substr(0, step == 0 ? rest.size() : step);
    const auto written = co_await stream->write(piece, runtime->deadline_in(kFakePatience));
    if (!written) co_return false;
    rest.remove_prefix(piece.size());
    if (step != 0) co_await runtime->sleep_until(runtime->now() + pause);
  }
  co_return true;
}

}  // namespace wardmote::testing
