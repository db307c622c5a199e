#include <algorithm>
#include <boost/json/object.hpp>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/format.h"
#include "config/import/blackbox_modules.h"
#include "config/import/draft.h"
#include "config/import/text.h"

namespace wardmote::config {
namespace {

namespace json = boost::json;

struct Target {
  std::string scheme;  ///< empty: none was written
  std::string place;   ///< host and port
  std::string path;    ///< with the query
};

Target split_target(std::string_view text) {
  Target target;
  const std::size_t colon = text.find("://");
  if (colon != std::string_view::npos) {
    target.scheme = lower(text.substr(0, colon));
    text.remove_prefix(colon + 3);
  }
  const std::size_t end = std::min(text.find_first_of("/?"), text.size());
  target.place = text.substr(0, end);
  target.path = text.substr(end);
  return target;
}

/// A name for people, without what may be a secret.
std::string name_of(const BlackboxModule& module, const Target& target) {
  const std::string_view host = std::string_view(target.place).substr(target.place.rfind('@') + 1);
  const std::string_view path = std::string_view(target.path).substr(0, target.path.find('?'));
  return fmt::format("{}-{}{}", module.name, host, path);
}

/// With `port` where the target says none.
std::string with_port(const std::string& place, std::string_view port) {
  const std::size_t bracket = place.rfind(']');
  const std::size_t colon = place.rfind(':');
  const bool bare_v6 = bracket == std::string::npos && place.find(':') != colon;
  if (bare_v6) return host_and_port(place, port);
  const bool has_port =
      colon != std::string::npos && (bracket == std::string::npos || colon > bracket);
  return has_port ? place : fmt::format("{}:{}", place, port);
}

void join(json::object& params, const json::object& more) {
  for (const auto& [key, value] : more) params[key] = value;
}

/// Why the target is none for the module; empty: it is one.
std::string_view fill_http(ImportedCheck& check, const BlackboxModule& module,
                           const Target& target) {
  const bool tls = target.scheme == "https";
  if (module.ssl_required && !tls) return "the module wants TLS, and the target is not https://";
  if (module.ssl_refused && tls) return "the module wants no TLS, and the target is https://";
  check.kind = tls ? "https" : "http";
  check.params["url"] = fmt::format("{}://{}{}", tls ? "https" : "http", target.place,
                                    target.path.starts_with('/') ? target.path : "/" + target.path);
  join(check.params, module.params);
  if (tls) join(check.params, module.tls);
  return {};
}

std::string_view fill_tcp(ImportedCheck& check, const BlackboxModule& module,
                          const Target& target) {
  check.kind = module.with_tls ? "tls" : "tcp";
  check.params["address"] = target.place;
  join(check.params, module.params);
  if (module.with_tls) join(check.params, module.tls);
  return {};
}

std::string_view fill_dns(ImportedCheck& check, const BlackboxModule& module,
                          const Target& target) {
  check.kind = "dns";
  join(check.params, module.params);
  check.params["server"] = with_port(target.place, "53");
  return {};
}

std::string_view fill_icmp(ImportedCheck& check, const BlackboxModule& module,
                           const Target& target) {
  check.kind = "ping";
  check.params["host"] = target.place;
  join(check.params, module.params);
  if (!module.fallback) check.params["family"] = module.family.empty() ? "ipv6" : module.family;
  return {};
}

std::string_view fill_grpc(ImportedCheck& check, const BlackboxModule& module,
                           const Target& target) {
  check.kind = "grpc";
  const std::string place = with_port(target.place, module.with_tls ? "443" : "80");
  check.params["address"] = (module.with_tls ? "ssl:" : "tcp:") + place;
  join(check.params, module.params);
  if (module.with_tls) join(check.params, module.tls);
  return {};
}

struct Row {
  std::string_view prober;
  std::string_view (*fill)(ImportedCheck& check, const BlackboxModule& module,
                           const Target& target);
};
constexpr Row kRows[] = {{"http", fill_http},
                         {"tcp", fill_tcp},
                         {"dns", fill_dns},
                         {"icmp", fill_icmp},
                         {"grpc", fill_grpc}};

}  // namespace

std::optional<ImportedCheck> check_of_module(ImportDraft& draft, ForeignPlace at,
                                             const BlackboxModule& module,
                                             const std::string& target) {
  const Target parts = split_target(target);
  ImportedCheck check{.name = name_of(module, parts), .kind = {}, .params = {}};
  for (const Row& row : kRows) {
    if (row.prober != module.prober) continue;
    const std::string_view why = row.fill(check, module, parts);
    if (why.empty()) return check;
    draft.say(at, check.name, fmt::format("left out: {}", why));
  }
  return std::nullopt;
}

}  // namespace wardmote::config
