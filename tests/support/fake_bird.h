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

#include "base/text.h"
#include "runtime/runtime.h"
#include "support/fake_door.h"

namespace wardmote::testing {

inline constexpr std::string_view kBirdGreeting = "0001 BIRD 1.6.8 ready.\n";
inline constexpr std::string_view kBirdHeadings =
    "2002-name     proto    table    state  since       info\n";
inline constexpr std::string_view kBirdStatus =
    "1000-BIRD 1.6.8\n1011-Router ID is 1.1.1.1\n"
    " Current server time is 2026-11-20 07:55:00\n Last reboot on 2026-11-20 06:55:00\n"
    " Last reconfiguration on 2026-11-20 06:55:00\n0013 Daemon is up and running\n";

/// How a FakeBird behaves.
struct BirdManners {
  std::string greeting{kBirdGreeting};
  /// Of `show status`, `show protocols`, `show protocols all`, `restrict`; anything else is a
  /// syntax error. A reply without its end is a cut one.
  std::map<std::string, std::string, std::less<>> replies = {
      {"restrict", "0016 Access restricted\n"}, {"show status", std::string(kBirdStatus)}};
  std::string close_after;  ///< hangs up after the reply to this command; `greeting` for that
  bool accepts = true;      ///< false: as when it is stopped
  bool endless = false;     ///< repeats the last reply for ever
  std::size_t step = 0;     ///< writes in pieces of so many bytes; 0: at once
  Duration pause = std::chrono::milliseconds(100);  ///< after each piece
};

/// A table with these rows, the first of which gets its code.
inline std::string bird_table(std::string_view rows) {
  return std::string(kBirdHeadings) + "1002-" + std::string(rows) + "0000 \n";
}

/// Manners of a BIRD that says this to both forms of `show protocols`.
inline BirdManners bird_with(std::string table) {
  BirdManners manners;
  manners.replies["show protocols"] = table;
  manners.replies["show protocols all"] = std::move(table);
  return manners;
}

/// A control socket that answers as told, good or hostile, on any Runtime. It stands for a BIRD
/// where a real one cannot be made to misbehave so. Life cycle: outlives the tasks that it gives to
/// `spawn`.
class FakeBird {
 public:
  using Spawn = FakeDoor::Spawn;

  FakeBird(runtime::Runtime& runtime, Spawn spawn, runtime::Endpoint at, BirdManners manners)
      : runtime_(runtime),
        manners_(std::move(manners)),
        door_(
            runtime, std::move(spawn), "fake_bird", std::move(at),
            [this](std::shared_ptr<runtime::Stream> stream) { return serve(std::move(stream)); }) {
    if (manners_.accepts) door_.open();
  }

  [[nodiscard]] int connections() const noexcept { return door_.connections(); }
  /// What was asked for, in order.
  [[nodiscard]] const std::vector<std::string>& commands() const noexcept { return commands_; }
  BirdManners& manners() noexcept { return manners_; }
  /// Closes every open connection, as a restart does.
  void hang_up() { door_.hang_up(); }

 private:
  runtime::Task<void> serve(std::shared_ptr<runtime::Stream> stream) {
    if (!manners_.greeting.empty()) co_await send(stream, manners_.greeting);
    if (manners_.close_after == "greeting") {
      stream->close();
      co_return;
    }
    std::string received;
    for (;;) {
      const std::size_t end = received.find('\n');
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
      const std::string reply =
          known == manners_.replies.end() ? "9001 syntax error\n" : known->second;
      const bool sent = co_await send(stream, reply);
      if (!sent || command == manners_.close_after) {
        stream->close();
        co_return;
      }
    }
  }

  runtime::Task<bool> send(std::shared_ptr<runtime::Stream> stream, std::string bytes) {
    const bool again = manners_.endless && bytes.starts_with("2002");
    do {
      const bool sent =
          co_await write_in_pieces(&runtime_, stream, bytes, manners_.step, manners_.pause);
      if (!sent) co_return false;
      if (again) bytes = " Mesh_10_0_0_1 BGP      master   up     07:54:13    Established   \n";
    } while (again);
    co_return true;
  }

  runtime::Runtime& runtime_;
  BirdManners manners_;
  FakeDoor door_;
  std::vector<std::string> commands_;
};

}  // namespace wardmote::testing
