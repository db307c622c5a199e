#include "codec/keystone.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "base/utc.h"

namespace wardmote::codec {

namespace json = boost::json;

namespace {

constexpr std::size_t kMostEndpoints = 4096;

json::object named(std::string_view name, std::string_view domain) {
  return {{"name", name}, {"domain", json::object{{"name", domain}}}};
}

/// Null when `value` is not an object or has no such list.
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
  // Always UTC (Identity API v3, "expires_at").
  const auto expires = parse_utc(text_in(*token, "expires_at"));
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
