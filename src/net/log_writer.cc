#include "net/log_writer.h"

#include <linux/limits.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

#include "base/log.h"
#include "net/log_line.h"

namespace wardmote::net {
namespace {

constexpr std::size_t kMostQueued = 4096;
constexpr int kPollMs = 50;

}  // namespace

LogWriter::LogWriter(LogOptions options)
    : options_(std::move(options)), thread_([this](const std::stop_token& stop) { run(stop); }) {}

LogWriter::~LogWriter() {
  thread_.request_stop();
  thread_.join();
}

void LogWriter::write(LogLevel level, std::string_view event, std::span<const LogField> fields) {
  if (level < options_.least) return;
  std::string line = log_line(options_.format, options_.clock(), level, event, fields);
  {
    const std::lock_guard lock(mutex_);
    if (queue_.size() >= kMostQueued) {
      ++dropped_;
      return;
    }
    if (const std::uint64_t dropped = std::exchange(dropped_, 0); dropped > 0) {
      const LogField count{"count", std::to_string(dropped)};
      queue_.push_back(log_line(options_.format, options_.clock(), LogLevel::kWarning,
                                "log_lines_dropped", std::span(&count, 1)));
    }
    queue_.push_back(std::move(line));
  }
  filled_.notify_one();
}

void LogWriter::run(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (filled_.wait(lock, stop, [this] { return !queue_.empty(); })) {
    const std::string line = std::move(queue_.front());
    queue_.pop_front();
    lock.unlock();
    write_out(line, stop);
    lock.lock();
  }
}

/// Once we are asked to stop, gives up on a descriptor that nobody reads.
void LogWriter::write_out(std::string_view text, const std::stop_token& stop) {
  while (!text.empty() && patience_ > 0) {
    pollfd ready{options_.descriptor, POLLOUT, 0};
    if (::poll(&ready, 1, kPollMs) <= 0) {
      if (stop.stop_requested()) --patience_;
      continue;
    }
    // A pipe that polls writable takes this much without blocking.
    const ssize_t written =
        ::write(options_.descriptor, text.data(), std::min<std::size_t>(text.size(), PIPE_BUF));
    if (written > 0) {
      text.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno != EINTR && errno != EAGAIN) {
      return;
    }
  }
}

}  // namespace wardmote::net
