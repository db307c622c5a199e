#include "codec/yaml/kubeconfig.h"

#include <array>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <cstddef>
#include <expected>
#include <string>
#include <string_view>
#include <utility>

#include "base/format.h"
#include "base/result.h"
#include "base/text.h"
#include "codec/base64.h"
#include "codec/json_fields.h"
#include "codec/yaml/yaml_json.h"

namespace wardmote::codec {

namespace json = boost::json;

namespace {

constexpr std::size_t kShown = 64;

struct Unsupported {
  std::string_view key;
  std::string_view why;
};
constexpr auto kOfClusters = std::to_array<Unsupported>(
    {{"insecure-skip-tls-verify", "a server that proves nothing could be anybody"},
     {"proxy-url", "proxies are not supported"},
     {"tls-server-name", "give the name in 'server'"}});
constexpr auto kOfUsers = std::to_array<Unsupported>(
    {{"exec", "programs that print credentials are not run; give a token file or a certificate"},
     {"auth-provider", "it is not supported; give a token file or a certificate"},
     {"username", "Kubernetes has no passwords since 1.19; give a token file or a certificate"},
     {"password", "Kubernetes has no passwords since 1.19; give a token file or a certificate"},
     {"as", "impersonation is not supported"},
     {"as-uid", "impersonation is not supported"},
     {"as-groups", "impersonation is not supported"},
     {"as-user-extra", "impersonation is not supported"}});

bool is_set(const json::value& value) {
  if (value.is_null()) return false;
  if (const bool* const flag = value.if_bool()) return *flag;
  if (const json::string* const text = value.if_string()) return !text->empty();
  return true;
}

template <class Table>
Result<void> check_supported(const json::object& object, const Table& table) {
  for (const Unsupported& one : table) {
    const json::value* const found = object.if_contains(one.key);
    if (found != nullptr && is_set(*found)) return fail(Errc::kInvalid, "{}: {}", one.key, one.why);
  }
  return {};
}

/// The map `part` of the entry called `name` in `list`.
Result<const json::object*> entry_of(const json::object& config, std::string_view list,
                                     std::string_view part, std::string_view name) {
  const json::value* const found = config.if_contains(list);
  const json::array* const entries = found == nullptr ? nullptr : found->if_array();
  if (entries == nullptr) return fail(Errc::kInvalid, "it has no {}", list);
  for (const json::value& entry : *entries) {
    const json::object* const one = entry.if_object();
    if (one == nullptr || text_in(*one, "name") != name) continue;
    const json::value* const value = one->if_contains(part);
    const json::object* const facts = value == nullptr ? nullptr : value->if_object();
    if (facts == nullptr)
      return fail(Errc::kInvalid, "{} '{}' has no {}", list, escape_control(name, kShown), part);
    return facts;
  }
  return fail(Errc::kInvalid, "{} has no '{}'", list, escape_control(name, kShown));
}

Result<std::string> data_in(const json::object& object, std::string_view key) {
  const auto text = text_in(object, key);
  if (!text || text->empty()) return std::string();
  auto bytes = base64_decode(*text);
  if (!bytes) return fail(Errc::kInvalid, "{} is no base64", key);
  return *std::move(bytes);
}

Result<void> read_cluster(const json::object& cluster, Kubeconfig& into) {
  if (auto good = check_supported(cluster, kOfClusters); !good) return good;
  into.server = text_in(cluster, "server").value_or("");
  while (into.server.ends_with('/')) into.server.pop_back();
  if (!into.server.starts_with("https://"))
    return fail(Errc::kInvalid, "server '{}' does not begin with https://",
                escape_control(into.server, kShown));
  into.ca_file = text_in(cluster, "certificate-authority").value_or("");
  auto ca = data_in(cluster, "certificate-authority-data");
  if (!ca) return std::unexpected(ca.error());
  into.ca = *std::move(ca);
  return {};
}

Result<void> read_user(const json::object& user, Kubeconfig& into) {
  if (auto good = check_supported(user, kOfUsers); !good) return good;
  into.token = text_in(user, "token").value_or("");
  into.token_file = text_in(user, "tokenFile").value_or("");
  into.certificate_file = text_in(user, "client-certificate").value_or("");
  into.key_file = text_in(user, "client-key").value_or("");
  auto certificate = data_in(user, "client-certificate-data");
  if (!certificate) return std::unexpected(certificate.error());
  auto key = data_in(user, "client-key-data");
  if (!key) return std::unexpected(key.error());
  into.certificate = *std::move(certificate);
  into.key = *std::move(key);
  const bool certified = !into.certificate.empty() || !into.certificate_file.empty();
  const bool keyed = !into.key.empty() || !into.key_file.empty();
  if (certified != keyed)
    return fail(Errc::kInvalid, "it has a client certificate without its key, or a key without");
  if (!certified && into.token.empty() && into.token_file.empty())
    return fail(Errc::kInvalid, "it has neither a token nor a client certificate");
  return {};
}

}  // namespace

Result<Kubeconfig> parse_kubeconfig(std::string_view bytes, std::string_view context) {
  const auto documents = read_yaml(bytes);
  if (!documents)
    return fail(Errc::kInvalid, "{}:{}: {}", documents.error().line, documents.error().column,
                documents.error().why);
  const json::object* const config =
      documents->size() == 1 ? documents->front().value.if_object() : nullptr;
  if (config == nullptr) return fail(Errc::kInvalid, "it is no kubeconfig");
  std::string wanted(context);
  if (wanted.empty()) wanted = text_in(*config, "current-context").value_or("");
  if (wanted.empty()) return fail(Errc::kInvalid, "it has no current-context");
  const auto chosen = entry_of(*config, "contexts", "context", wanted);
  if (!chosen) return std::unexpected(chosen.error());
  Kubeconfig found;
  found.space = text_in(**chosen, "namespace").value_or("");
  const std::string cluster_name = text_in(**chosen, "cluster").value_or("");
  const auto cluster = entry_of(*config, "clusters", "cluster", cluster_name);
  if (!cluster) return std::unexpected(cluster.error());
  if (auto good = read_cluster(**cluster, found); !good)
    return with_context(good, "cluster '{}'", escape_control(cluster_name, kShown));
  const std::string user_name = text_in(**chosen, "user").value_or("");
  const auto user = entry_of(*config, "users", "user", user_name);
  if (!user) return std::unexpected(user.error());
  if (auto good = read_user(**user, found); !good)
    return with_context(good, "user '{}'", escape_control(user_name, kShown));
  return found;
}

}  // namespace wardmote::codec
