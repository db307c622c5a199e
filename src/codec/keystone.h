#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace wardmote::codec {

/// The login for a token of OpenStack Identity v3.
struct KeystoneLogin {
  std::string credential;  ///< the id of an application credential; empty: user and project
  std::string user;
  std::string user_domain;  ///< names of domains
  std::string project;
  std::string project_domain;
  std::string secret;  ///< the password, or the credential's secret
  friend bool operator==(const KeystoneLogin&, const KeystoneLogin&) = default;
};

/// The body of `POST /v3/auth/tokens`.
std::string format_keystone_login(const KeystoneLogin& login);

/// An entry of the service catalogue.
struct KeystoneEndpoint {
  std::string service;    ///< its type: `instance-ha`
  std::string interface;  ///< `public`, `internal`, `admin`
  std::string region;
  std::string url;
};

/// The content of the body of a 201; the token itself is in the header X-Subject-Token.
struct KeystoneToken {
  WallTime expires;
  std::vector<KeystoneEndpoint> catalog;
};

/// kProtocol: no token, or a token without its expiry.
Result<KeystoneToken> parse_keystone_token(std::string_view body);

/// The first such endpoint; an empty `region` matches any.
std::optional<std::string> find_endpoint(const KeystoneToken& token, std::string_view service,
                                         std::string_view interface, std::string_view region);

}  // namespace wardmote::codec
