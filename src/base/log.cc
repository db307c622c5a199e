#include "base/log.h"

#include <initializer_list>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

namespace wardmote {
namespace {

std::unique_ptr<LogSink>& sink() {
  static std::unique_ptr<LogSink> instance;
  return instance;
}

}  // namespace

void set_log_sink(std::unique_ptr<LogSink> replacement) {
  sink() = std::move(replacement);
}

void log(LogLevel level, std::string_view event, std::initializer_list<LogField> fields) {
  log_fields(level, event, std::span(fields.begin(), fields.size()));
}

void log_fields(LogLevel level, std::string_view event, std::span<const LogField> fields) {
  if (sink()) sink()->write(level, event, fields);
}

}  // namespace wardmote
