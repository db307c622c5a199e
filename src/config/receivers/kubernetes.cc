#include "act/notify/kubernetes.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/format.h"
#include "base/text.h"
#include "codec/kubernetes.h"
#include "config/problem.h"
#include "config/reader.h"
#include "config/receivers/field.h"
#include "config/receivers/kinds.h"
#include "config/schema.h"
#include "config/yaml.h"

namespace wardmote::config {
namespace {

using act::notify::KubernetesOptions;

/// `Node`, `Pod`, `StatefulSet`.
bool is_kind(std::string_view text) {
  return !text.empty() && text.size() <= 63 && text.front() >= 'A' && text.front() <= 'Z' &&
         std::ranges::all_of(text, [](char c) {
           return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
         });
}

/// `v1`, `apps/v1`.
bool is_api_version(std::string_view text) {
  const std::size_t slash = text.rfind('/');
  if (slash == std::string_view::npos) return codec::is_kubernetes_name(text);
  return codec::is_kubernetes_name(text.substr(0, slash)) &&
         codec::is_kubernetes_name(text.substr(slash + 1));
}

bool is_namespace(std::string_view text) {
  return text.size() <= 63 && !text.contains('.') && codec::is_kubernetes_name(text);
}

std::optional<std::string> read_if(bool (*good)(std::string_view), std::string_view fix,
                                   const YamlNode& node, std::string_view what,
                                   Problems& problems) {
  auto text = read_text(node, what, problems);
  if (!text || good(*text)) return text;
  problems.add(node.at, fmt::format("{} '{}'", what, escape_control(*text, 64)),
               "Kubernetes knows no such", std::string(fix));
  return std::nullopt;
}

std::optional<std::string> read_kind(const YamlNode& node, std::string_view what,
                                     Problems& problems) {
  return read_if(is_kind, "write for example Node or Pod", node, what, problems);
}
std::optional<std::string> read_version(const YamlNode& node, std::string_view what,
                                        Problems& problems) {
  return read_if(is_api_version, "write for example v1 or apps/v1", node, what, problems);
}
std::optional<std::string> read_namespace(const YamlNode& node, std::string_view what,
                                          Problems& problems) {
  return read_if(is_namespace, "write for example kube-system", node, what, problems);
}
std::optional<std::string> read_object(const YamlNode& node, std::string_view what,
                                       Problems& problems) {
  return read_if(codec::is_kubernetes_name,
                 "write the name of an object: letters, digits, '-' and '.'", node, what, problems);
}

std::optional<std::string> read_server(const YamlNode& node, std::string_view what,
                                       Problems& problems) {
  auto server = read_base_url(node, what, problems);
  if (server && server->starts_with("http://")) {
    problems.add(node.at, std::string(what), "the token would be sent for all to read",
                 "write for example https://10.0.0.1:6443");
  }
  return server;
}

constexpr auto kFields = std::to_array<Field<KubernetesOptions>>({
    {{"server", Form::kUrl, false, "https://, of the API server (that of the pod's cluster)"},
     into<&KubernetesOptions::server, read_server>},
    {{"token_file", Form::kText, false, "The absolute path of a bearer token (the pod's)"},
     into<&KubernetesOptions::token_file, read_file_name>},
    {{"trust", Form::kText, false, "The absolute path of CA certificates (the pod's)"},
     into<&KubernetesOptions::trust, read_file_name>},
    {KeySpec{"kind", Form::kText, false, "Of the object that events are about"}.or_else("Node"),
     into<&KubernetesOptions::kind, read_kind>},
    {KeySpec{"api_version", Form::kText, false, "Of the object"}.or_else("v1"),
     into<&KubernetesOptions::version, read_version>},
    {{"namespace", Form::kText, false, "Of the object (none: a node is in none)"},
     into<&KubernetesOptions::space, read_namespace>},
    {{"name", Form::kText, false, "Of the object (the value of name_label)"},
     into<&KubernetesOptions::object, read_object>},
    {KeySpec{"name_label", Form::kText, false, "The label that names the object"}.or_else("node"),
     into<&KubernetesOptions::name_label, read_line>},
});
constexpr auto kKeys = keys_of(kFields);
constexpr Section kSections[] = {{"kubernetes", kKeys, false}};

void check(const KubernetesOptions& options, MapReader& map) {
  if (!options.server.empty() && options.token_file.empty()) {
    map.problems().add(map.at(), "kubernetes", "it does not say who asks",
                       "give token_file: /etc/wardmote/kubernetes.token");
  }
  if (options.kind != "Node" && options.space.empty()) {
    map.problems().add(map.at(), "kubernetes",
                       "events of what is in no namespace are of nodes only",
                       "give namespace: kube-system");
  }
}

}  // namespace

constexpr ReceiverKind kKubernetesKind = {.name = "kubernetes",
                                          .help = "Events of Kubernetes",
                                          .sections = kSections,
                                          .read = [](const YamlNode& node, Problems& problems) {
                                            return read_options(node, "kubernetes", kFields,
                                                                problems, check);
                                          }};

}  // namespace wardmote::config
