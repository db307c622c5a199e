#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "act/notify/channels.h"
#include "config/problem.h"
#include "config/reader.h"
#include "config/receivers/field.h"
#include "config/receivers/kinds.h"
#include "config/schema.h"
#include "config/yaml.h"

namespace wardmote::config {
namespace {

using act::notify::AlertmanagerOptions;
using act::notify::WebhookOptions;

std::optional<std::vector<std::string>> read_base_urls(const YamlNode& node, std::string_view what,
                                                       Problems& problems) {
  if (node.kind != YamlNode::Kind::kList || node.items.empty()) {
    problems.add(node.at, std::string(what), "not a list of addresses",
                 "write urls: [http://127.0.0.1:9093]");
    return std::nullopt;
  }
  std::vector<std::string> urls;
  urls.reserve(node.items.size());
  for (const YamlNode& item : node.items) {
    urls.push_back(read_base_url(item, "item of urls", problems).value_or(""));
  }
  return urls;
}

constexpr auto kWebhook = std::to_array<Field<WebhookOptions>>({
    {{"url", Form::kUrl, false, "http:// or https://; this or url_file"},
     into<&WebhookOptions::url, read_url>},
    {{"url_file", Form::kText, false, "The absolute path of a file with the address"},
     into_file_of<&WebhookOptions::url_file, read_file_name>},
    {{"body", Form::kText, false, "A template instead of the whole notice"},
     into<&WebhookOptions::body_template, read_template>},
    {{"token_file", Form::kText, false, "The absolute path of a bearer token"},
     into_file_of<&WebhookOptions::token, read_file_name>},
    {{"secret_file", Form::kText, false, "The absolute path of the secret that signs"},
     into_file_of<&WebhookOptions::secret, read_file_name>},
    {{"trust", Form::kText, false, "The absolute path of CA certificates"},
     into<&WebhookOptions::trust, read_file_name>},
});
constexpr auto kWebhookKeys = keys_of(kWebhook);
constexpr Section kWebhookSections[] = {{"webhook", kWebhookKeys, false}};

constexpr auto kAlertmanager = std::to_array<Field<AlertmanagerOptions>>({
    {{"urls", Form::kUrls, true, "Each member of the Alertmanager cluster"},
     into<&AlertmanagerOptions::urls, read_base_urls>,
     "urls: [http://127.0.0.1:9093]"},
    {{"token_file", Form::kText, false, "The absolute path of a bearer token"},
     into_file_of<&AlertmanagerOptions::token, read_file_name>},
    {{"trust", Form::kText, false, "The absolute path of CA certificates"},
     into<&AlertmanagerOptions::trust, read_file_name>},
});
constexpr auto kAlertmanagerKeys = keys_of(kAlertmanager);
constexpr Section kAlertmanagerSections[] = {{"alertmanager", kAlertmanagerKeys, false}};

void check_webhook(const WebhookOptions&, MapReader& map) {
  check_address(map);
}

}  // namespace

constexpr ReceiverKind kWebhookKind = {.name = "webhook",
                                       .help = "POSTs JSON",
                                       .sections = kWebhookSections,
                                       .read = [](const YamlNode& node, Problems& problems) {
                                         return read_options(node, "webhook", kWebhook, problems,
                                                             check_webhook);
                                       }};

constexpr ReceiverKind kAlertmanagerKind = {.name = "alertmanager",
                                            .help = "Alertmanager's API v2",
                                            .sections = kAlertmanagerSections,
                                            .read = [](const YamlNode& node, Problems& problems) {
                                              return read_options(node, "alertmanager",
                                                                  kAlertmanager, problems);
                                            }};

}  // namespace wardmote::config
