#pragma once

#include <array>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/runtime.h"
#include "support/fake_door.h"

namespace wardmote::testing {

/// How a FakeVty behaves.
struct VtyManners {
  std::map<std::string, std::string, std::less<>> replies;  ///< without the end of a reply
  bool accepts = true;                                      ///< false: as when it is stopped
  bool cuts_replies = false;                                ///< hangs up before the end of each
};

/// A vty socket of FRR that answers as told. It stands for a bgpd where a real one cannot be made
/// to misbehave so. Life cycle: outlives the tasks that it gives to `spawn`.
class FakeVty {
 public:
  using Spawn = FakeDoor::Spawn;

  FakeVty(runtime::Runtime& runtime, Spawn spawn, runtime::Endpoint at, VtyManners manners)
      : runtime_(runtime),
        manners_(std::move(manners)),
        door_(
            runtime, std::move(spawn), "fake_vty", std::move(at),
            [this](std::shared_ptr<runtime::Stream> stream) { return serve(std::move(stream)); }) {
    if (manners_.accepts) door_.open();
  }

  [[nodiscard]] int connections() const noexcept { return door_.connections(); }
  [[nodiscard]] const std::vector<std::string>& commands() const noexcept { return commands_; }
  /// Closes every open connection, as a restart does.
  void hang_up() { door_.hang_up(); }

 private:
  runtime::Task<void> serve(std::shared_ptr<runtime::Stream> stream) {
    std::string received;
    for (;;) {
      const std::size_t end = received.find('\0');
      if (end == std::string::npos) {
        std::array<char, 256> chunk;
        const auto got = co_await stream->read_some(chunk, runtime_.deadline_in(kFakePatience));
        if (!got) co_return;
        received.append(chunk.data(), *got);
        continue;
      }
      const std::string command = received.substr(0, end);
      received.erase(0, end + 1);
      commands_.push_back(command);
      const auto known = manners_.replies.find(command);
      const bool unknown = known == manners_.replies.end();
      std::string reply = unknown ? "% [BGP] Unknown command: " + command + "\n" : known->second;
      if (!manners_.cuts_replies) reply += std::string(3, '\0') + (unknown ? '\2' : '\0');
      const auto sent = co_await stream->write(reply, runtime_.deadline_in(kFakePatience));
      if (!sent || manners_.cuts_replies) {
        stream->close();
        co_return;
      }
    }
  }

  runtime::Runtime& runtime_;
  VtyManners manners_;
  FakeDoor door_;
  std::vector<std::string> commands_;
};

}  // namespace wardmote::testing
