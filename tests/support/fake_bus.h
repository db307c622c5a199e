#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "runtime/runtime.h"

namespace wardmote::testing {

/// How a FakeBus behaves.
struct BusManners {
  /// What is written after each time that the client has written: after its authentication, after
  /// its first calls, after the next ones.
  std::vector<std::string> parts;
  bool accepts = true;                  ///< false: as when it is stopped
  std::size_t endless_from = SIZE_MAX;  ///< the part that is written again and again
  std::size_t step = 0;   ///< write in pieces of so many bytes, 100 ms apart; 0: at once
  bool hangs_up = false;  ///< after all is written
};

/// Plays a recorded conversation of a bus with systemd behind it, or a hostile one. Life cycle:
/// outlives the tasks that it gives to `spawn`.
class FakeBus {
 public:
  using Spawn = std::function<void(std::string name, runtime::Task<void> task)>;

  FakeBus(runtime::Runtime& runtime, Spawn spawn, runtime::Endpoint at, BusManners manners)
      : runtime_(runtime), spawn_(std::move(spawn)), manners_(std::move(manners)) {
    auto listener = runtime_.listen(std::move(at));
    check(listener.has_value(), listener ? "" : listener.error().describe());
    listener_ = *std::move(listener);
    if (manners_.accepts) spawn_("fake_bus", accept_all());
  }

  [[nodiscard]] int connections() const noexcept { return connections_; }
  /// All that clients wrote.
  [[nodiscard]] const std::string& received() const noexcept { return received_; }

 private:
  runtime::Task<void> accept_all() {
    for (;;) {
      auto stream = co_await listener_->accept();
      if (!stream) co_return;
      ++connections_;
      spawn_("fake_bus_client", serve(*std::move(stream)));
    }
  }

  runtime::Task<void> serve(std::shared_ptr<runtime::Stream> stream) {
    std::array<char, 4096> chunk;
    for (std::size_t heard = 0; heard < manners_.parts.size() || !manners_.hangs_up; ++heard) {
      const auto got = co_await stream->read_some(chunk, runtime_.deadline_in(kPatience));
      if (!got) co_return;
      received_.append(chunk.data(), *got);
      if (heard >= manners_.parts.size()) continue;
      const bool endless = heard == manners_.endless_from;
      const bool sent = co_await send(stream, manners_.parts[heard], endless);
      if (!sent) co_return;
    }
  }

  runtime::Task<bool> send(std::shared_ptr<runtime::Stream> stream, std::string bytes,
                           bool endless) {
    do {
      for (std::string_view rest = bytes; !rest.empty();) {
        const std::string_view piece =
            rest.substr(0, manners_.step == 0 ? rest.size() : manners_.step);
        const auto written = co_await stream->write(piece, runtime_.deadline_in(kPatience));
        if (!written) co_return false;
        rest.remove_prefix(piece.size());
        if (manners_.step != 0)
          co_await runtime_.sleep_until(runtime_.now() + std::chrono::milliseconds(100));
      }
    } while (endless);
    co_return true;
  }

  static constexpr Duration kPatience = std::chrono::hours(1);

  runtime::Runtime& runtime_;
  Spawn spawn_;
  BusManners manners_;
  std::unique_ptr<runtime::Listener> listener_;
  int connections_ = 0;
  std::string received_;
};

}  // namespace wardmote::testing
