#include "act/notify/masakari.h"

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "codec/keystone.h"
#include "config/problem.h"
#include "config/reader.h"
#include "config/receivers/field.h"
#include "config/receivers/kinds.h"
#include "config/schema.h"
#include "config/yaml.h"

namespace wardmote::config {
namespace {

using namespace std::chrono_literals;
using act::notify::KeystoneOptions;
using act::notify::MasakariOptions;
using codec::KeystoneLogin;

std::optional<std::string> read_keystone_url(const YamlNode& node, std::string_view what,
                                             Problems& problems) {
  auto url = read_base_url(node, what, problems);
  if (url && !url->ends_with("/v3")) *url += "/v3";
  return url;
}

template <auto Member>
void into_login(const YamlNode& node, const KeySpec& key, KeystoneOptions& keystone,
                Problems& problems) {
  auto line = read_line(node, key.name, problems);
  if (line) keystone.login.*Member = *std::move(line);
}

void read_interface(const YamlNode& node, const KeySpec& key, KeystoneOptions& keystone,
                    Problems& problems) {
  if (read_word(node, key, problems)) keystone.interface = node.text;
}

constexpr auto kKeystone = std::to_array<Field<KeystoneOptions>>({
    {{"url", Form::kUrl, true, "http:// or https://, with or without /v3"},
     into<&KeystoneOptions::url, read_keystone_url>,
     "url: https://keystone:5000/v3"},
    {{"credential", Form::kText, false, "The id of an application credential"},
     into_login<&KeystoneLogin::credential>},
    {{"user", Form::kText, false, "Instead of a credential, with project"},
     into_login<&KeystoneLogin::user>},
    {KeySpec{"user_domain", Form::kText, false, "Its name"}.or_else("Default"),
     into_login<&KeystoneLogin::user_domain>},
    {{"project", Form::kText, false, "That the user asks for"},
     into_login<&KeystoneLogin::project>},
    {KeySpec{"project_domain", Form::kText, false, "Its name"}.or_else("Default"),
     into_login<&KeystoneLogin::project_domain>},
    {{"secret_file", Form::kText, true, "The absolute path of the password or secret"},
     into<&KeystoneOptions::secret_file, read_file_name>,
     "secret_file: /etc/wardmote/keystone.secret"},
    {{"region", Form::kText, false, "Of the catalogue's endpoint (any)"},
     into<&KeystoneOptions::region, read_line>},
    {{.name = "interface",
      .form = Form::kWord,
      .required = false,
      .help = "Of the catalogue's endpoint",
      .words = "public|internal|admin",
      .otherwise = "public"},
     read_interface},
});

void read_keystone(const YamlNode& node, const KeySpec& key, MasakariOptions& masakari,
                   Problems& problems) {
  MapReader map(node, std::string(key.name), problems);
  masakari.keystone = read_fields(map, kKeystone);
  const KeystoneLogin& login = masakari.keystone.login;
  const bool by_user = !login.user.empty() && !login.project.empty();
  if (map.is_map() && by_user == !login.credential.empty()) {
    problems.add(map.at(), map.what(), "it does not say who asks",
                 "give user and project, or credential, the id of an application credential");
  }
  map.finish();
}

constexpr auto kMasakari = std::to_array<Field<MasakariOptions>>({
    {{.name = "type",
      .form = Form::kWord,
      .required = false,
      .help = "What an incident is to Masakari",
      .words = "process|host|instance",
      .otherwise = "process"},
     into_word<&MasakariOptions::type>},
    {{"url", Form::kUrl, false, "Of the API: http://masakari:15868/v1 (the catalogue's)"},
     into<&MasakariOptions::url, read_base_url>},
    {{"host", Form::kText, false, "As its failover segment names it (the node's name)"},
     into<&MasakariOptions::host, read_line>},
    {KeySpec{"name_label", Form::kText, false,
             "The label that names the process or has the instance's UUID"}
         .or_else("subject"),
     into<&MasakariOptions::name_label, read_line>},
    {KeySpec{"microversion", Form::kText, false, "Of the API"}.or_else("\"1.0\""),
     into<&MasakariOptions::microversion, read_line>},
    {{"keystone", Form::kMap, false, "Where the token comes from", "keystone"}, read_keystone},
    {{"trust", Form::kText, false, "The absolute path of CA certificates, for both"},
     into<&MasakariOptions::trust, read_file_name>},
});
constexpr auto kMasakariKeys = keys_of(kMasakari);
constexpr auto kKeystoneKeys = keys_of(kKeystone);
constexpr Section kSections[] = {{"masakari", kMasakariKeys, false},
                                 {"keystone", kKeystoneKeys, false}};

void check(const MasakariOptions&, MapReader& map) {
  if (map.find("url") != nullptr || map.find("keystone") != nullptr) return;
  map.problems().add(map.at(), "masakari", "it does not say where",
                     "give url: http://masakari:15868/v1, or keystone, whose catalogue knows");
}

}  // namespace

// Masakari may take five seconds by itself (notification_delay_max) before it answers.
constexpr ReceiverKind kMasakariKind = {.name = "masakari",
                                        .help = "OpenStack Masakari's API v1",
                                        .sections = kSections,
                                        .read =
                                            [](const YamlNode& node, Problems& problems) {
                                              return read_options(node, "masakari", kMasakari,
                                                                  problems, check);
                                            },
                                        .timeout = 30s,
                                        .least_timeout = 15s};

}  // namespace wardmote::config
