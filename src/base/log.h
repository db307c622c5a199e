#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace wardmote {

enum class LogLevel : std::uint8_t { kDebug, kInfo, kWarning, kError };

/// One `key=value` of an event. The value is escaped by the sink, so it may be text from outside.
struct LogField {
  std::string_view key;
  std::string value;
};

/// Where events go. Thread: called from the thread that logs.
class LogSink {
 public:
  LogSink() = default;
  LogSink(const LogSink&) = delete;
  LogSink& operator=(const LogSink&) = delete;
  virtual ~LogSink() = default;
  virtual void write(LogLevel level, std::string_view event, std::span<const LogField> fields) = 0;
};

/// Replaces the process-wide sink; null drops every event (the state at start). Call before threads
/// exist.
void set_log_sink(std::unique_ptr<LogSink> sink);

/// One event, one line: `log(LogLevel::kInfo, "probe_failed", {{"cluster", name}, {"reason",
/// reason}});`
void log(LogLevel level, std::string_view event, std::initializer_list<LogField> fields = {});
/// The same, with fields that the caller has built before.
void log_fields(LogLevel level, std::string_view event, std::span<const LogField> fields);

}  // namespace wardmote
