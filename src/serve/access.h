#pragma once

#include <cstdint>
#include <expected>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/sha256.h"
#include "runtime/http.h"
#include "serve/role.h"

namespace wardmote::serve {

/// A bearer token that the API knows (RFC 6750).
struct Token {
  static constexpr std::size_t kLeast = 16;  ///< characters: less can be guessed
  static constexpr std::size_t kMost = 512;

  std::string name;  ///< of who has it, for the log
  Role role = Role::kViewer;
  Sha256 digest{};  ///< of its text, which is not kept
};

/// Who has which role.
struct AccessRules {
  /// Over TCP, of who shows nothing: kNone or kViewer.
  Role anonymous = Role::kViewer;
  std::vector<Token> tokens;
  /// By a name in a verified client certificate.
  std::map<std::string, Role, std::less<>> certificates;
  /// At the unix socket: by user id and by group id. Who is not named here and may connect is a
  /// viewer.
  std::map<std::uint32_t, Role> users;
  std::map<std::uint32_t, Role> groups;
  /// Names by which this host may be asked over TCP by who shows nothing, besides its addresses and
  /// localhost; lower case.
  std::vector<std::string> hosts;
};

/// Who asks.
struct Who {
  std::string name;  ///< `token:grafana`, `user:0`, `certificate:ops.example`, `anonymous`
  Role role = Role::kNone;
  bool anonymous = false;
};

/// Somebody who showed something that is not known here.
struct Stranger {
  std::string_view reason;
};

/// Who asks, by the best evidence that the request carries: a token, a client certificate, the
/// process at the unix socket.
std::expected<Who, Stranger> identify(const AccessRules& rules,
                                      const runtime::HttpRequest& request);

/// Whether the request names this host as only this host is called. A page of a foreign site can
/// make a browser ask us under that site's name (DNS rebinding), never under an address.
bool names_this_host(const AccessRules& rules, std::string_view host_header);

/// Whether a browser says that another site made it send this request.
bool from_another_site(const runtime::HttpRequest& request);

}  // namespace wardmote::serve
