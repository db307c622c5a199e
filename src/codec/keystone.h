#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace wardmote::codec {

/// Who wants a token of OpenStack Identity v3, and for what.
struct KeystoneLogin {
  std::string credential;  ///< the id of an application credential; empty: user and project
  std::string user;
  std::string user_domain;  ///< domains by their names
  std::string project;
  std::string project_domain;
  std::string secret;  ///< the password, or the credential's secret
};

/// The body of `POST /v3/auth/tokens`.
std::string format_keystone_login(const KeystoneLogin& login);

/// Where a service of the catalogue answers.
struct KeystoneEndpoint {
  std::string service;    ///< its type: `instance-ha`
  std::string interface;  ///< `public`, `internal`, `admin`
  std::string region;
  std::string url;
};

/// What the body of a 201 says; the token itself is in the header X-Subject-Token.
struct KeystoneToken {
  WallTime expires;
  std::vector<KeystoneEndpoint> catalog;
};

/// kProtocol: no token, or without a time of its end.
Result<KeystoneToken> parse_keystone_token(std::string_view body);

/// The first such endpoint; an empty `region` is any.
std::optional<std::string> find_endpoint(const KeystoneToken& token, std::string_view service,
                                         std::string_view interface, std::string_view region);

}  // namespace wardmote::codec
