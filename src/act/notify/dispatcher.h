#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "act/notify/channel.h"
#include "base/time.h"
#include "judge/notify/notice.h"
#include "runtime/runtime.h"
#include "runtime/task.h"
#include "runtime/task_group.h"

namespace wardmote::act::notify {

struct Receiver {
  std::unique_ptr<Channel> channel;
  Duration timeout = std::chrono::seconds(15);
};

/// Sends notices, to each receiver one at a time: one that hangs delays nobody else, and when we
/// die at most one was taken without our knowing. Life cycle: stop() before destruction; what it
/// borrows outlives it. Thread: the core loop.
class Dispatcher {
 public:
  static constexpr std::size_t kAtATime = 1;
  using Told = std::function<void(const judge::notify::Notice& notice, const Fate& fate)>;

  Dispatcher(runtime::Runtime& runtime, std::map<std::string, Receiver> receivers, Told told);

  /// Others from now on. What one is told now is told to its end; what waits for one that is among
  /// them waits on, the rest is dropped.
  void reload(std::map<std::string, Receiver> receivers);

  /// `told` hears how it fared; of a receiver that does not exist, too.
  void send(judge::notify::Notice notice);
  [[nodiscard]] bool knows(const std::string& receiver) const {
    return receivers_.contains(receiver);
  }
  runtime::Task<void> stop() { return tasks_.stop(); }

 private:
  struct Line {
    Receiver receiver;
    std::deque<judge::notify::Notice> waiting;
    std::size_t under_way = 0;
  };

  void begin(const std::string& name, const std::shared_ptr<Line>& line);
  runtime::Task<void> work_off(std::shared_ptr<Line> line);
  runtime::Task<void> send_one(std::shared_ptr<Line> line, judge::notify::Notice notice);

  runtime::Runtime& runtime_;
  std::map<std::string, std::shared_ptr<Line>> receivers_;  // shared with who works it off
  Told told_;
  runtime::TaskGroup tasks_;
};

}  // namespace wardmote::act::notify
