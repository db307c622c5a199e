#include "cli/host_facts_json.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "base/time.h"
#include "judge/endpoint/http.h"
#include "judge/host/exec.h"
#include "judge/host/file.h"
#include "judge/host/process.h"
#include "judge/service/service.h"
#include "judge/service/systemd.h"

namespace wardmote::cli {
namespace {

namespace json = boost::json;

template <class T>
json::value or_null(const std::optional<T>& value) {
  return value ? json::value(*value) : json::value(nullptr);
}

std::int64_t to_us(Duration d) noexcept {
  return std::chrono::duration_cast<std::chrono::microseconds>(d).count();
}

json::object process_to_json(const judge::ProcessFacts& process) {
  return {{"pid", process.pid},
          {"name", escape_control(process.name)},
          {"state", escape_control(std::string_view(&process.state, 1))},
          {"age_ms", to_ms(process.age)},
          {"parent", process.parent},
          {"rss_bytes", or_null(process.rss)}};
}

}  // namespace

json::value facts_to_json(const judge::ServiceFacts& service) {
  json::object object{{"supervisor", to_string(service.supervisor)},
                      {"state", to_string(service.state)},
                      {"pid", nullptr},
                      {"in_state_ms", to_ms(service.in_state)},
                      {"wanted", service.want_up ? "up" : "down"},
                      {"normally", service.normally_up ? "up" : "down"},
                      {"paused", service.paused},
                      {"got_term", service.got_term},
                      {"ready", or_null(service.ready)},
                      {"last_exit_code", or_null(service.last_exit_code)},
                      {"last_signal", or_null(service.last_signal)},
                      {"restarts", service.restarts},
                      {"process", nullptr}};
  if (service.pid != 0) object["pid"] = service.pid;
  if (service.process) object["process"] = process_to_json(*service.process);
  return object;
}

json::value facts_to_json(const judge::SystemdFacts& unit) {
  const auto ms_or_null = [](const std::optional<Duration>& time) {
    return time ? json::value(to_ms(*time)) : json::value(nullptr);
  };
  json::object object{{"id", unit.id},
                      {"load_state", unit.load_state},
                      {"active_state", unit.active_state},
                      {"sub_state", unit.sub_state},
                      {"in_state_ms", ms_or_null(unit.in_state)},
                      {"result", unit.result},
                      {"status_text", unit.status_text},
                      {"pid", nullptr},
                      {"last_exit_code", or_null(unit.exit_code)},
                      {"last_signal", or_null(unit.signal)},
                      {"restarts", unit.restarts},
                      {"recent_restarts", unit.recent_restarts},
                      {"watchdog_ms", ms_or_null(unit.watchdog)},
                      {"watchdog_age_ms", ms_or_null(unit.watchdog_age)},
                      {"process", nullptr}};
  if (unit.main_pid != 0) object["pid"] = unit.main_pid;
  if (unit.process) object["process"] = process_to_json(*unit.process);
  return object;
}

json::value facts_to_json(const judge::ProcessListFacts& processes) {
  json::array shown;
  for (const judge::ProcessFacts& process : processes.shown) {
    shown.emplace_back(process_to_json(process));
  }
  return json::object{{"count", processes.count}, {"processes", std::move(shown)}};
}

json::value facts_to_json(const judge::FileFacts& file) {
  json::object object{{"exists", file.exists}, {"size_bytes", nullptr}, {"age_ms", nullptr}};
  if (file.exists) {
    object["size_bytes"] = file.size;
    object["age_ms"] = to_ms(file.age);
  }
  return object;
}

json::value facts_to_json(const judge::HttpFacts& http) {
  json::object object{{"status", http.status},
                      {"url", escape_control(http.url)},
                      {"redirects", http.redirects},
                      {"connect_us", to_us(http.connect_time)},
                      {"first_byte_us", to_us(http.first_byte)},
                      {"kept", http.kept},
                      {"body_matches", or_null(http.body_matches)},
                      {"body", nullptr}};
  if (!http.body.empty()) object["body"] = escape_control(http.body, http.body.size());
  return object;
}

json::value facts_to_json(const judge::ExecFacts& exec) {
  json::array measured;
  for (const judge::Measured& one : exec.measured) {
    measured.emplace_back(json::object{{"label", escape_control(one.label)},
                                       {"value", one.value},
                                       {"unit", escape_control(one.unit)}});
  }
  return json::object{{"exit_code", exec.exit_code},
                      {"text", escape_control(exec.text)},
                      {"measured", std::move(measured)}};
}

}  // namespace wardmote::cli
