#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runtime/runtime.h"
#include "support/fake_door.h"

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
  using Spawn = FakeDoor::Spawn;

  FakeBus(runtime::Runtime& runtime, Spawn spawn, runtime::Endpoint at, BusManners manners)
      : runtime_(runtime),
        manners_(std::move(manners)),
        door_(runtime, std::move(spawn), "fake_bus", std::move(at),
              [this](auto stream) { return serve(std::move(stream)); }) {
    if (manners_.accepts) door_.open();
  }

  [[nodiscard]] int connections() const noexcept { return door_.connections(); }
  /// All that clients wrote.
  [[nodiscard]] const std::string& received() const noexcept { return received_; }

 private:
  runtime::Task<void> serve(std::shared_ptr<runtime::Stream> stream) {
    std::array<char, 4096> chunk;
    for (std::size_t heard = 0; heard < manners_.parts.size() || !manners_.hangs_up; ++heard) {
      const auto got = co_await stream->read_some(chunk, runtime_.deadline_in(kFakePatience));
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
    bool sent = false;
    do {
      sent = co_await write_in_pieces(&runtime_, stream, bytes, manners_.step);
    } while (sent && endless);
    co_return sent;
  }

  runtime::Runtime& runtime_;
  BusManners manners_;
  FakeDoor door_;
  std::string received_;
};

}  // namespace wardmote::testing
