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
#include "codec/json_fields.h"

namespace wardmote::codec {

namespace json = boost::json;

namespace {

constexpr std::size_t kMostEndpoints = 4096;

json::object named(std::string_view name, std::string_view domain) {
  return {{"name", name}, {"domain", json::object{{"name", domain}}}};
}

std::string word_in(const json::value& value, std::string_view key) {
  return text_in(value.if_object(), key).value_or("");
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
  const std::optional<json::object> answer = parse_object(body);
  const json::value* const token = answer ? answer->if_contains("token") : nullptr;
  if (token == nullptr) return fail(Errc::kProtocol, "keystone: the answer has no token");
  // Always UTC (Identity API v3, "expires_at").
  const auto expires = parse_utc(word_in(*token, "expires_at"));
  if (!expires) return fail(Errc::kProtocol, "keystone: the token has no time of its end");
  KeystoneToken parsed{*expires, {}};
  const json::array* const services = array_in(token->if_object(), "catalog");
  if (services == nullptr) return parsed;
  for (const json::value& service : *services) {
    const json::array* const endpoints = array_in(service.if_object(), "endpoints");
    if (endpoints == nullptr) continue;
    for (const json::value& endpoint : *endpoints) {
      if (parsed.catalog.size() == kMostEndpoints) return parsed;
      parsed.catalog.push_back({word_in(service, "type"), word_in(endpoint, "interface"),
                                word_in(endpoint, "region"), word_in(endpoint, "url")});
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
