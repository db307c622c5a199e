#include "agent/debug.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"
#include "runtime/lateness.h"
#include "serve/view.h"

namespace wardmote::agent {
namespace {

namespace json = boost::json;

std::int64_t to_us(Duration d) noexcept {
  return std::chrono::duration_cast<std::chrono::microseconds>(d).count();
}

}  // namespace

json::object debug_tasks(const std::vector<std::string>& names) {
  std::map<std::string, std::int64_t> counts;
  for (const std::string& name : names) ++counts[name];
  json::array tasks;
  for (const auto& [name, count] : counts) {
    tasks.push_back(json::object{{"name", name}, {"count", count}});
  }
  return {{"tasks", std::move(tasks)}};
}

json::object debug_latency(const runtime::Lateness& looks, const serve::SelfView& self) {
  json::object late;
  late["count"] = looks.count();
  late["p50_us"] = to_us(looks.quantile(0.5));
  late["p99_us"] = to_us(looks.quantile(0.99));
  late["max_us"] = to_us(looks.max());
  json::object heartbeat;
  heartbeat["last_us"] = to_us(self.lateness);
  heartbeat["worst_us"] = to_us(self.worst_lateness);
  json::object all;
  all["looks"] = std::move(late);
  all["heartbeat"] = std::move(heartbeat);
  all["voided"] = self.voided;
  return all;
}

}  // namespace wardmote::agent
