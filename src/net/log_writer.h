#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>

#include "base/log.h"
#include "net/log_line.h"

namespace wardmote::net {

struct LogOptions {
  LogLevel least = LogLevel::kInfo;
  LogFormat format = LogFormat::kKeyValue;
  int descriptor = 2;
  std::function<WallTime()> clock;
};

/// Writes events to a descriptor from a thread of its own, because a reader that stops (a full
/// pipe, a stuck journald) must not stop the watching. What does not fit into its queue is dropped,
/// counted and reported by the next line that fits. Life cycle: its destructor writes what is
/// queued, for half a second at most.
class LogWriter final : public LogSink {
 public:
  explicit LogWriter(LogOptions options);
  ~LogWriter() override;

  void write(LogLevel level, std::string_view event, std::span<const LogField> fields) override;

 private:
  void run(const std::stop_token& stop);
  void write_out(std::string_view text, const std::stop_token& stop);

  const LogOptions options_;
  std::mutex mutex_;
  std::condition_variable_any filled_;
  std::deque<std::string> queue_;
  std::uint64_t dropped_ = 0;
  int patience_ = 10;  ///< waits of 50 ms for a reader, once we are asked to stop; of the thread
  std::jthread thread_;
};

}  // namespace wardmote::net
