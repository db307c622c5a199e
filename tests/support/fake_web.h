#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.h"
#include "runtime/runtime.h"

namespace wardmote::testing {

/// A web server that answers as told, good or hostile, on any Runtime: bytes for each request, in
/// turn, the last one again and again.
/// Life cycle: outlives the tasks that it gives to `spawn`.
class FakeWeb {
 public:
  using Spawn = std::function<void(std::string name, runtime::Task<void> task)>;

  FakeWeb(runtime::Runtime& runtime, Spawn spawn, runtime::Endpoint at)
      : runtime_(runtime), spawn_(std::move(spawn)) {
    auto listener = runtime_.listen(std::move(at));
    check(listener.has_value(), listener ? "" : listener.error().describe());
    listener_ = *std::move(listener);
    spawn_("fake_web", accept_all());
  }

  std::deque<std::string> answers;
  bool closes = true;    ///< after each answer
  std::size_t step = 0;  ///< write in pieces of so many bytes; 0: at once
  Duration pause{};      ///< after each piece
  bool endless = false;  ///< writes the answer's last 100 bytes for ever

  [[nodiscard]] const std::vector<std::string>& requests() const noexcept { return requests_; }
  [[nodiscard]] int connections() const noexcept { return connections_; }
  /// Closes every open connection.
  void hang_up() {
    for (const auto& weak : std::exchange(open_, {})) {
      if (const std::shared_ptr<runtime::Stream> stream = weak.lock()) stream->close();
    }
  }

 private:
  static constexpr Duration kPatience = std::chrono::hours(1);

  runtime::Task<void> accept_all() {
    for (;;) {
      auto stream = co_await listener_->accept();
      if (!stream) co_return;
      ++connections_;
      std::shared_ptr<runtime::Stream> shared = *std::move(stream);
      open_.push_back(shared);
      spawn_("fake_web_connection", serve(std::move(shared)));
    }
  }

  runtime::Task<void> serve(std::shared_ptr<runtime::Stream> stream) {
    std::string request;
    for (;;) {
      char chunk[4096];
      const auto got = co_await stream->read_some(chunk, runtime_.deadline_in(kPatience));
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
    std::string_view rest = answer;
    while (!rest.empty()) {
      const std::string_view piece = rest.substr(0, step == 0 ? rest.size() : step);
      const auto written = co_await stream->write(piece, runtime_.deadline_in(kPatience));
      if (!written) co_return false;
      rest.remove_prefix(piece.size());
      if (pause > Duration::zero()) co_await runtime_.sleep_until(runtime_.now() + pause);
      if (rest.empty() && endless) rest = std::string_view(answer).substr(answer.size() - 100);
    }
    co_return true;
  }

  runtime::Runtime& runtime_;
  Spawn spawn_;
  std::unique_ptr<runtime::Listener> listener_;
  std::vector<std::weak_ptr<runtime::Stream>> open_;
  std::vector<std::string> requests_;
  int connections_ = 0;
};

}  // namespace wardmote::testing
