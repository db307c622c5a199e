#include "codec/report_message.h"

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/text.h"
#include "base/time.h"
#include "codec/json_keys.h"

namespace wardmote::codec {
namespace {

namespace json = boost::json;

constexpr std::size_t kLongestDetail = 4096;
constexpr std::size_t kDeepest = 4;
constexpr std::int64_t kMostMicroseconds = INT64_MAX / 1000;

std::unexpected<Error> no_report(std::string_view why) {
  return fail(Errc::kProtocol, "no report: {}", why);
}

Result<std::optional<bool>> read_flag(const json::object& object, std::string_view name) {
  const json::value* const value = object.if_contains(name);
  if (value == nullptr) return std::optional<bool>();
  const bool* const flag = value->if_bool();
  if (flag == nullptr)
    return fail(Errc::kProtocol, "no report: '{}' is neither true nor false", name);
  return std::optional(*flag);
}

Result<ReportMessage> parse_json(std::string_view bytes) {
  json::parse_options options;
  options.max_depth = kDeepest;
  boost::system::error_code error;
  const json::value whole = json::parse({bytes.data(), bytes.size()}, error, {}, options);
  const json::object* const object = error ? nullptr : whole.if_object();
  if (object == nullptr) return no_report("not a JSON object");
  if (const auto twice = key_given_twice(bytes))
    return fail(Errc::kProtocol, "no report: '{}' is given twice", escape_control(*twice, 64));
  ReportMessage message;
  for (const auto& [name, value] : *object) {
    if (name == "live" || name == "ready") continue;
    const json::string* const text = value.if_string();
    if (text == nullptr || (name != "detail" && name != "timeout"))
      return fail(Errc::kProtocol, "no report: '{}'", escape_control(name, 64));
    if (name == "detail") {
      message.detail = std::string_view(*text).substr(0, kLongestDetail);
      continue;
    }
    message.timeout = parse_duration(*text);
    if (!message.timeout) return no_report("timeout is not a duration, like 30s or 0s");
  }
  const Result<std::optional<bool>> live = read_flag(*object, "live");
  if (!live) return std::unexpected(live.error());
  const Result<std::optional<bool>> ready = read_flag(*object, "ready");
  if (!ready) return std::unexpected(ready.error());
  message.live = *live;
  message.ready = *ready;
  return message;
}

std::optional<Duration> microseconds(std::string_view text) {
  const auto count = parse_number<std::int64_t>(text);
  if (!count || *count < 0 || *count > kMostMicroseconds) return std::nullopt;
  return std::chrono::microseconds(*count);
}

/// False when the value is malformed.
bool read_assignment(std::string_view name, std::string_view value, ReportMessage& message) {
  if (name == "READY" && value == "1") {
    message.live = message.ready = true;
  } else if ((name == "STOPPING" || name == "RELOADING") && value == "1") {
    message.ready = false;
  } else if (name == "WATCHDOG" && value == "1") {
    message.live = true;
  } else if (name == "WATCHDOG" && value == "trigger") {
    message.live = false;
  } else if (name == "STATUS") {
    message.detail = value.substr(0, kLongestDetail);
  } else if (name == "ERRNO") {
    message.detail = "errno " + std::string(value.substr(0, 16));
  } else if (name == "WATCHDOG_USEC") {
    message.timeout = microseconds(value);
    return message.timeout.has_value();
  }
  return true;
}

Result<ReportMessage> parse_notify(std::string_view bytes) {
  ReportMessage message;
  std::size_t assignments = 0;
  while (!bytes.empty()) {
    std::string_view line = take_until(bytes, '\n');
    if (line.empty()) continue;
    if (!line.contains('=')) return no_report("a line that is not an assignment");
    const std::string_view name = take_until(line, '=');
    if (!read_assignment(name, line, message))
      return fail(Errc::kProtocol, "no report: {} is not a number of microseconds", name);
    ++assignments;
  }
  if (assignments == 0) return no_report("empty");
  return message;
}

}  // namespace

Result<ReportMessage> parse_report_message(std::string_view bytes) {
  if (bytes.size() > kLargestReport)
    return fail(Errc::kLimit, "a report of more than {} bytes", kLargestReport);
  return trim(bytes).starts_with('{') ? parse_json(trim(bytes)) : parse_notify(bytes);
}

}  // namespace wardmote::codec
