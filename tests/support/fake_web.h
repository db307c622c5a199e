#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/runtime.h"
#include "support/fake_door.h"

namespace wardmote::testing {

/// A web server that answers as told, good or hostile, on any Runtime: bytes for each request, in
/// turn, the last one again and again.
/// Life cycle: outlives the tasks that it gives to `spawn`.
class FakeWeb {
 public:
  using Spawn = FakeDoor::Spawn;

  FakeWeb(runtime::Runtime& runtime, Spawn spawn, runtime::Endpoint at)
      : runtime_(runtime),
        door_(
            runtime, std::move(spawn), "fake_web", std::move(at),
            [this](std::shared_ptr<runtime::Stream> stream) { return serve(std::move(stream)); }) {
    door_.open();
  }

  std::deque<std::string> answers;
  bool closes = true;    ///< after each answer
  std::size_t step = 0;  ///< write in pieces of so many bytes; 0: at once
  Duration pause{};      ///< after each piece
  bool endless = false;  ///< writes the answer's last 100 bytes for ever

  [[nodiscard]] const std::vector<std::string>& requests() const noexcept { return requests_; }
  [[nodiscard]] int connections() const noexcept { return door_.connections(); }
  /// Closes every open connection.
  void hang_up() { door_.hang_up(); }

 private:
  runtime::Task<void> serve(std::shared_ptr<runtime::Stream> stream) {
    std::string request;
    for (;;) {
      char chunk[4096];
      const auto got = co_await stream->read_some(chunk, runtime_.deadline_in(kFakePatience));
      if (!got) co_return;
      request.append(chunk, *got);
      if (!request.ends_with("\r\n\r\n")) continue;
      requests_.push_back(std::exchange(request, {}));
      const std::string answer = answers.empty() ? "" : answers.front();
      if (answers.size() > 1) answers.pop_front();
      const bool sent = co_await send(stream, answer);
      if (sent && !closes) continue;
      stream->close();
      co_return;
    }
  }

  runtime::Task<bool> send(std::shared_ptr<runtime::Stream> stream, std::string answer) {
    do {
      const bool sent = co_await write_in_pieces(&runtime_, stream, answer, step, pause);
      if (!sent) co_return false;
      if (step == 0 && pause > Duration::zero())
        co_await runtime_.sleep_until(runtime_.now() + pause);
      if (endless) answer = answer.substr(answer.size() - 100);
    } while (endless);
    co_return true;
  }

  runtime::Runtime& runtime_;
  FakeDoor door_;
  std::vector<std::string> requests_;
};

}  // namespace wardmote::testing
