#include "codec/keystone.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "base/text.h"
#include "base/time.h"

namespace wardmote::codec {

namespace json = boost::json;

namespace {

constexpr std::size_t kMostEndpoints = 4096;

json::object named(std::string_view name, std::string_view domain) {
  return {{"name", name}, {"domain", json::object{{"name", domain}}}};
}

/// Null when `value` is no object or has no such list.
const json::array* list_in(const json::value& value, std::string_view key) {
  const json::object* const object = value.if_object();
  const json::value* const found = object == nullptr ? nullptr : object->if_contains(key);
  return found == nullptr ? nullptr : found->if_array();
}

std::string text_in(const json::value& value, std::string_view key) {
  const json::object* const object = value.if_object();
  const json::value* const found = object == nullptr ? nullptr : object->if_contains(key);
  const json::string* const text = found == nullptr ? nullptr : found->if_string();
  return text == nullptr ? std::string() : std::string(*text);
}

/// `2026-11-20T09:14:38.000000Z`; always UTC (Identity API v3, "expires_at").
std::optional<WallTime> parse_expiry(std::string_view text) {
  if (text.size() < 20 || text[4] != '-' || text[7] != '-' || text[10] != 'T' || text[13] != ':' ||
      text[16] != ':' || text.back() != 'Z') {
    return std::nullopt;
  }
  const auto number = [&](std::size_t at, std::size_t length) {
    return parse_number<std::uint16_t>(text.substr(at, length));
  };
  const auto year = number(0, 4);
  const auto month = number(5, 2);
  const auto day = number(8, 2);
  const auto hour = number(11, 2);
  const auto minute = number(14, 2);
  const auto second = number(17, 2);
  if (!year || !month || !day || !hour || !minute || !second) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(*year), std::chrono::month(*month),
                                         std::chrono::day(*day)};
  // What would overflow the clock is no time either.
  if (!date.ok() || *year < 1970 || *year > 2200 || *hour > 23 || *minute > 59 || *second > 60) {
    return std::nullopt;
  }
  return WallTime(std::chrono::sys_days(date)) + std::chrono::hours(*hour) +
         std::chrono::minutes(*minute) + std::chrono::seconds(*second);
}

}  // namespace

std::string format_keystone_login(const KeystoneLogin& login) {
  json::object auth;
  if (!login.credential.empty()) {
    auth["identity"] = {
        {"methods", json::array{"application_credential"}},
        {"application_credential", {{"id", login.credential}, {"secret", login.secret}}}};
  } else {
    json::object user = named(login.user, login.user_domain);
    user["password"] = login.secret;
    auth["identity"] = {{"methods", json::array{"password"}},
                        {"password", json::object{{"user", std::move(user)}}}};
    auth["scope"] = json::object{{"project", named(login.project, login.project_domain)}};
  }
  return json::serialize(json::object{{"auth", std::move(auth)}});
}

Result<KeystoneToken> parse_keystone_token(std::string_view body) {
  boost::system::error_code broken;
  const json::value value = json::parse(body, broken);
  const json::object* const object = broken ? nullptr : value.if_object();
  const json::value* const token = object == nullptr ? nullptr : object->if_contains("token");
  if (token == nullptr) return fail(Errc::kProtocol, "keystone: the answer has no token");
  const auto expires = parse_expiry(text_in(*token, "expires_at"));
  if (!expires) return fail(Errc::kProtocol, "keystone: the token has no time of its end");
  KeystoneToken parsed{*expires, {}};
  const json::array* const services = list_in(*token, "catalog");
  if (services == nullptr) return parsed;
  for (const json::value& service : *services) {
    const json::array* const endpoints = list_in(service, "endpoints");
    if (endpoints == nullptr) continue;
    for (const json::value& endpoint : *endpoints) {
      if (parsed.catalog.size() == kMostEndpoints) return parsed;
      parsed.catalog.push_back({text_in(service, "type"), text_in(endpoint, "interface"),
                                text_in(endpoint, "region"), text_in(endpoint, "url")});
    }
  }
  return parsed;
}

std::optional<std::string> find_endpoint(const KeystoneToken& token, std::string_view service,
                                         std::string_view interface, std::string_view region) {
  for (const KeystoneEndpoint& endpoint : token.catalog) {
    if (endpoint.service == service && endpoint.interface == interface && !endpoint.url.empty() &&
        (region.empty() || endpoint.region == region)) {
      return endpoint.url;
    }
  }
  return std::nullopt;
}

}  // namespace wardmote::codec
