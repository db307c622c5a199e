#include "observe/calico/texts.h"

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "base/format.h"
#include "base/result.h"
#include "base/text.h"
#include "observe/calico/felix.h"
#include "observe/calico/health.h"

namespace wardmote::observe::calico {

std::string_view prefix_of(Check check) noexcept {
  switch (check) {
    case Check::kFelixLive: return "calico/node is not ready: Felix is not live: ";
    case Check::kBirdLive: return "calico/node is not ready: bird/confd is not live: ";
    case Check::kBird6Live: return "calico/node is not ready: bird6/confd is not live: ";
    case Check::kFelixReady: return "calico/node is not ready: felix is not ready: ";
    case Check::kBirdReady: return "calico/node is not ready: BIRD is not ready: ";
    case Check::kBird6Ready: return "calico/node is not ready: BIRD6 is not ready: ";
  }
  return "calico/node is not ready: ";
}

std::string in_words_of(Release release, std::string text) {
  constexpr auto kOnceCapital = std::to_array<std::string_view>(
      {"failed to stat() nodename file", "service confd is not running",
       "service bird is not running", "service bird6 is not running", "error querying BIRD",
       "error executing command"});
  if (release != Release::kCalico322 && release != Release::kCalico330) return text;
  for (const std::string_view words : kOnceCapital) {
    const std::size_t at = text.find(words);
    if (at != std::string::npos) text[at] = static_cast<char>(text[at] - 'a' + 'A');
  }
  return text;
}

std::string go_http_error(const FelixTarget& target, std::string_view path, const Error& error) {
  const std::string host = target.host.contains(':') && !target.host.starts_with('[')
                               ? "[" + target.host + "]"
                               : target.host;
  const std::string place = escape_control(fmt::format("{}:{}", host, target.port), 120);
  const auto get = [&](std::string_view what) {
    return fmt::format("Get \"http://{}/{}\": {}", place, path, what);
  };
  switch (error.code) {
    case Errc::kTimeout: return get("context deadline exceeded");
    case Errc::kClosed:
      return get(error.context.contains("half")
                     ? "net/http: HTTP/1.x transport connection broken: unexpected EOF"
                     : "EOF");
    case Errc::kProtocol:
    case Errc::kLimit:
      return get("net/http: HTTP/1.x transport connection broken: " + error.context);
    case Errc::kRejected: return fmt::format("Get \"/{}\": {}", path, error.context);
    case Errc::kRefused: return get(fmt::format("dial tcp {}: connect: connection refused", place));
    case Errc::kUnreachable: return get("context deadline exceeded");
    case Errc::kMissing: return get(fmt::format("dial tcp: lookup {}: no such host", host));
    default: return get(error.describe());
  }
}

}  // namespace wardmote::observe::calico
