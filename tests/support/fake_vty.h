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

#include "base/check.h"
#include "runtime/runtime.h"

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
  using Spawn = std::function<void(std::string name, runtime::Task<void> task)>;

  FakeVty(runtime::Runtime& runtime, Spawn spawn, runtime::Endpoint at, VtyManners manners)
      : runtime_(runtime), spawn_(std::move(spawn)), manners_(std::move(manners)) {
    auto listener = runtime_.listen(std::move(at));
    check(listener.has_value(), listener ? "" : listener.error().describe());
    listener_ = *std::move(listener);
    if (manners_.accepts) spawn_("fake_vty", accept_all());
  }

  [[nodiscard]] int connections() const noexcept { return connections_; }
  [[nodiscard]] const std::vector<std::string>& commands() const noexcept { return commands_; }
  /// Closes every open connection, as a restart does.
  void hang_up() {
    for (const auto& weak : std::exchange(open_, {})) {
      if (const std::shared_ptr<runtime::Stream> stream = weak.lock()) stream->close();
    }
  }

 private:
  runtime::Task<void> accept_all() {
    for (;;) {
      auto stream = co_await listener_->accept();
      if (!stream) co_return;
      ++connections_;
      std::shared_ptr<runtime::Stream> shared = *std::move(stream);
      open_.push_back(shared);
      spawn_("fake_vty_client", serve(std::move(shared)));
    }
  }

  runtime::Task<void> serve(std::shared_ptr<runtime::Stream> stream) {
    std::string received;
    for (;;) {
      const std::size_t end = received.find('\0');
      if (end == std::string::npos) {
        std::array<char, 256> chunk;
        const auto got = co_await stream->read_some(chunk, runtime_.deadline_in(kPatience));
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
      const auto sent = co_await stream->write(reply, runtime_.deadline_in(kPatience));
      if (!sent || manners_.cuts_replies) {
        stream->close();
        co_return;
      }
    }
  }

  static constexpr Duration kPatience = std::chrono::hours(1);

  runtime::Runtime& runtime_;
  Spawn spawn_;
  VtyManners manners_;
  std::unique_ptr<runtime::Listener> listener_;
  std::vector<std::weak_ptr<runtime::Stream>> open_;
  int connections_ = 0;
  std::vector<std::string> commands_;
};

}  // namespace wardmote::testing
