#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

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
  bool forgets = false;  ///< the receiver keeps notices in memory only, and loses them at a restart
};

/// Sends notices, to each receiver one at a time: a receiver that hangs delays no other, and when
/// the agent dies, at most one notice for each was taken without the agent's knowledge. Life cycle:
/// stop() before destruction; what it borrows outlives it. Thread: the core loop.
class Dispatcher {
 public:
  static constexpr std::size_t kAtATime = 1;
  using Told =
      std::function<void(const judge::notify::Notice& notice, const DeliveryResult& result)>;

  using MaySend = std::function<bool(const judge::notify::Notice& notice)>;

  /// `may_send` is asked before each notice; one that may not be sent is dropped, and nobody is
  /// told.
  Dispatcher(
      runtime::Runtime& runtime, std::map<std::string, Receiver> receivers, Told told,
      MaySend may_send = [](const judge::notify::Notice&) { return true; });

  /// Replaces the receivers. A notice that is being sent is finished; notices that wait stay for
  /// receivers that still exist, the others are dropped.
  void reload(std::map<std::string, Receiver> receivers);

  /// Calls `told` with the result, also for a receiver that does not exist.
  void send(judge::notify::Notice notice);
  /// What waits is not sent: another agent may have sent it meanwhile. What is being sent goes on.
  void forget_waiting() noexcept;
  [[nodiscard]] bool knows(const std::string& receiver) const {
    return receivers_.contains(receiver);
  }
  /// The names of all receivers.
  [[nodiscard]] std::set<std::string> receivers() const;
  /// The receivers that forget their notices at a restart.
  [[nodiscard]] std::vector<std::string> forgetful() const;
  /// Whether no notice is being sent to it, and none waits.
  [[nodiscard]] bool idle(const std::string& receiver) const;
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
  std::map<std::string, std::shared_ptr<Line>> receivers_;  // shared with the task that sends
  Told told_;
  MaySend may_send_;
  runtime::TaskGroup tasks_;
};

}  // namespace wardmote::act::notify
