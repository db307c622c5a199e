#include "base/log.h"

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
  if (sink()) sink()->write(level, event, fields);
}

}  // namespace wardmote
