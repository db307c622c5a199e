#pragma once

#include <cstdint>
#include <expected>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "codec/digest.h"
#include "runtime/http.h"
#include "serve/role.h"

namespace wardmote::serve {

/// A bearer token that the API knows (RFC 6750).
struct Token {
  static constexpr std::size_t kLeast = 16;  ///< characters; a shorter token can be guessed
  static constexpr std::size_t kMost = 512;

  std::string name;  ///< of the owner, for the log
  Role role = Role::kViewer;
  codec::Sha256 digest{};  ///< of the token, which itself is not kept
};

/// Which caller has which role.
struct AccessRules {
  /// The role of callers over TCP without credentials: kNone or kViewer.
  Role anonymous = Role::kViewer;
  std::vector<Token> tokens;
  /// The role for a name in a verified client certificate.
  std::map<std::string, Role, std::less<>> certificates;
  /// At the unix socket: the role by user id and by group id. Others who may connect are viewers.
  std::map<std::uint32_t, Role> users;
  std::map<std::uint32_t, Role> groups;
  /// Names by which callers without credentials may address this host over TCP, besides its
  /// addresses and localhost; lower case.
  std::vector<std::string> hosts;
};

/// Who asks.
struct Who {
  std::string name;  ///< `token:grafana`, `user:0`, `certificate:ops.example`, `anonymous`
  Role role = Role::kNone;
  bool anonymous = false;
};

/// The caller showed a token or certificate that is not known here.
struct Stranger {
  std::string_view reason;
};

/// Who asks, by the best evidence in the request: a token, a client certificate, the process at the
/// unix socket.
std::expected<Who, Stranger> identify(const AccessRules& rules,
                                      const runtime::HttpRequest& request);

/// Whether the Host header is a name or address of this host. A page of a foreign site can make a
/// browser send us a request under the site's name (DNS rebinding), but never under our address.
bool names_this_host(const AccessRules& rules, std::string_view host_header);

/// Whether the browser says that a page of another site made it send this request.
bool from_another_site(const runtime::HttpRequest& request);

}  // namespace wardmote::serve
