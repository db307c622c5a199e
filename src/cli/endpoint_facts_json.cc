#include "cli/endpoint_facts_json.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "base/text.h"
#include "base/time.h"
#include "judge/endpoint/dns.h"
#include "judge/endpoint/grpc.h"
#include "judge/endpoint/ping.h"

namespace wardmote::cli {
namespace {

namespace json = boost::json;

std::int64_t to_us(Duration d) noexcept {
  return std::chrono::duration_cast<std::chrono::microseconds>(d).count();
}

json::value us_or_null(const std::optional<Duration>& time) {
  return time ? json::value(to_us(*time)) : json::value(nullptr);
}

}  // namespace

json::value facts_to_json(const judge::GrpcFacts& grpc) {
  json::object object{{"service", escape_control(grpc.service)},
                      {"serving", nullptr},
                      {"status", grpc.status},
                      {"message", escape_control(grpc.message)},
                      {"connect_us", to_us(grpc.connect_time)},
                      {"answer_us", to_us(grpc.answer_time)},
                      {"kept", grpc.kept}};
  if (grpc.serving) object["serving"] = to_string(*grpc.serving);
  return object;
}

json::value facts_to_json(const judge::DnsFacts& dns) {
  json::array answers;
  for (const std::string& answer : dns.answers) answers.emplace_back(escape_control(answer));
  return json::object{{"name", escape_control(dns.name)},
                      {"type", dns.type},
                      {"rcode", dns.rcode},
                      {"authoritative", dns.authoritative},
                      {"answers", std::move(answers)},
                      {"least_ttl", dns.least_ttl ? json::value(*dns.least_ttl) : nullptr},
                      {"over_tcp", dns.over_tcp},
                      {"tries", dns.tries},
                      {"answer_us", to_us(dns.answer_time)}};
}

json::value facts_to_json(const judge::PingFacts& ping) {
  return json::object{{"address", ping.address},          {"sent", ping.sent},
                      {"received", ping.received},        {"least_us", us_or_null(ping.least)},
                      {"mean_us", us_or_null(ping.mean)}, {"most_us", us_or_null(ping.most)}};
}

}  // namespace wardmote::cli
