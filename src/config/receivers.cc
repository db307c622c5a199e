#include "config/receivers.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "act/notify/payload.h"
#include "base/format.h"
#include "base/text.h"
#include "codec/kubernetes.h"
#include "codec/mail.h"
#include "codec/url.h"
#include "config/config.h"
#include "config/problem.h"
#include "config/reader.h"
#include "config/sections.h"
#include "config/yaml.h"

namespace wardmote::config {
namespace {

using namespace std::chrono_literals;

template <class T>
struct Word {
  std::string_view text;
  T value;
};
constexpr Word<Masakari::Type> kTypes[] = {{"process", Masakari::Type::kProcess},
                                           {"host", Masakari::Type::kHost},
                                           {"instance", Masakari::Type::kInstance}};
constexpr Word<Mail::Tls> kTls[] = {{"starttls", Mail::Tls::kStartTls},
                                    {"implicit", Mail::Tls::kImplicit},
                                    {"never", Mail::Tls::kNever}};
constexpr std::string_view kInterfaces[] = {"public", "internal", "admin"};

/// With a host, and a port that there can be. Neither path nor query are looked at.
bool has_good_server(std::string_view url) {
  const std::size_t server = url.find("://") + 3;
  return codec::parse_url(url.substr(0, url.find_first_of("/?#", server))).has_value();
}

std::string read_url(const YamlNode& node, std::string_view what, Problems& problems) {
  auto url = read_text(node, what, problems);
  if (!url) return {};
  const bool good = url->starts_with("http://") || url->starts_with("https://");
  // It may carry a secret: it is not repeated here.
  if (!good || url->find_first_of(" \r\n\t") != std::string::npos) {
    problems.add(node.at, std::string(what), "not an http:// or https:// address",
                 "write for example https://hooks.example.org/wardmote");
    return {};
  }
  if (has_good_server(*url)) return *std::move(url);
  problems.add(node.at, std::string(what),
               "no host in it, a port that is not 1 to 65535, or a user, who does not belong there",
               "write for example https://hooks.example.org:8443/wardmote");
  return {};
}

std::string read_file_name(MapReader& map, std::string_view key) {
  auto name = map.read(key, read_text);
  if (!name) return {};
  if (name->starts_with('/')) return *std::move(name);
  map.problems().add(map.at(), fmt::format("{} '{}'", key, escape_control(*name, 64)),
                     "not an absolute path", "write the path of a file that only root may read");
  return {};
}

void read_webhook(const YamlNode& node, Receiver& receiver, Problems& problems) {
  MapReader map(node, "webhook", problems);
  if (const YamlNode* const url = map.require("url", "url: https://hooks.example.org/x")) {
    receiver.urls = {read_url(*url, "url", problems)};
  }
  receiver.token_file = read_file_name(map, "token_file");
  receiver.secret_file = read_file_name(map, "secret_file");
  receiver.trust = read_file_name(map, "trust");
  if (const YamlNode* const body = map.find("body")) {
    receiver.body = read_text(*body, "body", problems).value_or("");
    if (const auto checked = act::notify::check_template(receiver.body); !checked) {
      problems.add(body->at, "body", checked.error().context, "see docs/notifications.md");
    }
  }
  map.finish();
}

void read_alertmanager(const YamlNode& node, Receiver& receiver, Problems& problems) {
  MapReader map(node, "alertmanager", problems);
  const YamlNode* const urls = map.require("urls", "urls: [http://127.0.0.1:9093]");
  if (urls != nullptr) {
    if (urls->kind == YamlNode::Kind::kList && !urls->items.empty()) {
      for (const YamlNode& url : urls->items) {
        std::string text = read_url(url, "item of urls", problems);
        while (text.ends_with('/')) text.pop_back();
        receiver.urls.push_back(std::move(text));
      }
    } else {
      problems.add(urls->at, "urls", "not a list of addresses",
                   "write urls: [http://127.0.0.1:9093]");
    }
  }
  receiver.token_file = read_file_name(map, "token_file");
  receiver.trust = read_file_name(map, "trust");
  map.finish();
}

void read_exec(const YamlNode& node, Receiver& receiver, Problems& problems) {
  MapReader map(node, "exec", problems);
  if (const YamlNode* const command = map.require("command", "command: [/usr/local/bin/page]")) {
    for (Placed<std::string>& word : read_texts(*command, "command", problems)) {
      receiver.command.push_back(std::move(word.value));
    }
    if (receiver.command.empty() || !receiver.command.front().starts_with('/')) {
      problems.add(command->at, "command", "it does not begin with an absolute path",
                   "write command: [/usr/local/bin/page, argument]; there is no shell");
    }
  }
  map.finish();
}

/// `journal` and `log` have nothing to say, yet.
void read_nothing(const YamlNode& node, Receiver&, Problems& problems) {
  MapReader map(node, "receiver", problems);
  map.finish();
}

/// The value of one of `words`; `otherwise` when absent or wrong.
template <class T, std::size_t N>
T read_word(MapReader& map, std::string_view key, const Word<T> (&words)[N], T otherwise) {
  const YamlNode* const node = map.find(key);
  const auto text = node == nullptr ? std::nullopt : read_text(*node, key, map.problems());
  if (!text) return otherwise;
  std::string known;
  for (const Word<T>& word : words) {
    if (word.text == *text) return word.value;
    known += (known.empty() ? "" : ", ") + std::string(word.text);
  }
  map.problems().add(node->at, fmt::format("{} '{}'", key, escape_control(*text, 64)),
                     "not one of those", "write one of: " + known);
  return otherwise;
}

/// Text that stands in a header or an address: nothing that could end it.
std::string read_line(MapReader& map, std::string_view key, std::string_view otherwise = {}) {
  const YamlNode* const node = map.find(key);
  const auto text = node == nullptr ? std::nullopt : read_text(*node, key, map.problems());
  if (!text) return std::string(otherwise);
  if (escape_control(*text) == *text) return *text;
  map.problems().add(node->at, std::string(key), "it is too long or has control characters",
                     "write it in one line");
  return std::string(otherwise);
}

Keystone read_keystone(const YamlNode& node, Problems& problems) {
  MapReader map(node, "keystone", problems);
  Keystone keystone;
  if (const YamlNode* const url = map.require("url", "url: https://keystone:5000/v3")) {
    keystone.url = read_url(*url, "url", problems);
    while (keystone.url.ends_with('/')) keystone.url.pop_back();
    if (!keystone.url.empty() && !keystone.url.ends_with("/v3")) keystone.url += "/v3";
  }
  keystone.credential = read_line(map, "credential");
  keystone.user = read_line(map, "user");
  keystone.user_domain = read_line(map, "user_domain", "Default");
  keystone.project = read_line(map, "project");
  keystone.project_domain = read_line(map, "project_domain", "Default");
  keystone.region = read_line(map, "region");
  keystone.interface = read_line(map, "interface", "public");
  map.require("secret_file", "secret_file: /etc/wardmote/keystone.secret");
  keystone.secret_file = read_file_name(map, "secret_file");
  const bool by_user = !keystone.user.empty() && !keystone.project.empty();
  if (map.is_map() && by_user == !keystone.credential.empty()) {
    problems.add(map.at(), "keystone", "it does not say who asks",
                 "give user and project, or credential, the id of an application credential");
  }
  if (std::ranges::find(kInterfaces, keystone.interface) == std::end(kInterfaces)) {
    problems.add(map.at(), fmt::format("interface '{}'", keystone.interface), "there is no such",
                 fmt::format("write one of: {}", fmt::join(kInterfaces, ", ")));
  }
  map.finish();
  return keystone;
}

void read_masakari(const YamlNode& node, Receiver& receiver, Problems& problems) {
  MapReader map(node, "masakari", problems);
  Masakari& masakari = receiver.masakari;
  masakari.type = read_word(map, "type", kTypes, Masakari::Type::kProcess);
  masakari.host = read_line(map, "host");
  masakari.name_label = read_line(map, "name_label", "subject");
  masakari.microversion = read_line(map, "microversion", "1.0");
  receiver.trust = read_file_name(map, "trust");
  const YamlNode* const keystone = map.find("keystone");
  if (keystone != nullptr) masakari.keystone = read_keystone(*keystone, problems);
  const YamlNode* const at = map.find("url");
  std::string url;
  if (at != nullptr) url = read_url(*at, "url", problems);
  while (url.ends_with('/')) url.pop_back();
  if (at == nullptr && keystone == nullptr && map.is_map()) {
    problems.add(map.at(), "masakari", "it does not say where",
                 "give url: http://masakari:15868/v1, or keystone, whose catalogue knows");
  }
  receiver.urls = {std::move(url)};
  map.finish();
}

/// A name that `good` accepts; `otherwise` when absent or wrong.
std::string read_name_like(MapReader& map, std::string_view key, bool (*good)(std::string_view),
                           std::string_view fix, std::string_view otherwise = {}) {
  const YamlNode* const node = map.find(key);
  const auto text = node == nullptr ? std::nullopt : read_text(*node, key, map.problems());
  if (!text) return std::string(otherwise);
  if (good(*text)) return *text;
  map.problems().add(node->at, fmt::format("{} '{}'", key, escape_control(*text, 64)),
                     "Kubernetes knows no such", std::string(fix));
  return std::string(otherwise);
}

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

void read_kubernetes(const YamlNode& node, Receiver& receiver, Problems& problems) {
  MapReader map(node, "kubernetes", problems);
  std::string server;
  if (const YamlNode* const at = map.find("server")) {
    server = read_url(*at, "server", problems);
    while (server.ends_with('/')) server.pop_back();
    if (server.starts_with("http://")) {
      problems.add(at->at, "server", "the token would be sent for all to read",
                   "write for example https://10.0.0.1:6443");
    }
  }
  receiver.token_file = read_file_name(map, "token_file");
  receiver.trust = read_file_name(map, "trust");
  if (!server.empty() && receiver.token_file.empty()) {
    problems.add(map.at(), "kubernetes", "it does not say who asks",
                 "give token_file: /etc/wardmote/kubernetes.token");
  }
  receiver.urls = {std::move(server)};
  Kubernetes& kubernetes = receiver.kubernetes;
  kubernetes.kind = read_name_like(map, "kind", is_kind, "write for example Node or Pod", "Node");
  kubernetes.version =
      read_name_like(map, "api_version", is_api_version, "write for example v1 or apps/v1", "v1");
  kubernetes.space =
      read_name_like(map, "namespace", is_namespace, "write for example kube-system");
  kubernetes.object = read_name_like(map, "name", codec::is_kubernetes_name,
                                     "write the name of an object: letters, digits, '-' and '.'");
  kubernetes.name_label = read_line(map, "name_label", "node");
  if (kubernetes.kind != "Node" && kubernetes.space.empty() && map.is_map()) {
    problems.add(map.at(), "kubernetes", "events of what is in no namespace are of nodes only",
                 "give namespace: kube-system");
  }
  map.finish();
}

std::string read_address(const YamlNode& node, std::string_view what, Problems& problems) {
  const auto text = read_text(node, what, problems);
  if (!text) return {};
  if (codec::is_mail_address(*text)) return *text;
  problems.add(node.at, fmt::format("{} '{}'", what, escape_control(*text, 64)),
               "not an address of mail", "write for example oncall@example.org");
  return {};
}

void read_mail(const YamlNode& node, Receiver& receiver, Problems& problems) {
  MapReader map(node, "mail", problems);
  Mail& mail = receiver.mail;
  mail.tls = read_word(map, "tls", kTls, Mail::Tls::kStartTls);
  if (const YamlNode* const server = map.require("server", "server: mail.example.org:587")) {
    mail.server = read_text(*server, "server", problems).value_or("");
    const std::size_t colon = mail.server.rfind(':');
    const auto port =
        colon == std::string::npos
            ? std::nullopt
            : parse_number<std::uint16_t>(std::string_view(mail.server).substr(colon + 1));
    if (!port || *port == 0 || !codec::parse_url("http://" + mail.server) ||
        mail.server.find_first_of("/@?# \t\r\n") != std::string::npos) {
      problems.add(server->at, fmt::format("server '{}'", escape_control(mail.server, 64)),
                   "not a host and a port", "write for example mail.example.org:587");
    }
  }
  if (const YamlNode* const from = map.require("from", "from: wardmote@example.org")) {
    mail.from = read_address(*from, "from", problems);
  }
  if (const YamlNode* const to = map.require("to", "to: [oncall@example.org]")) {
    if (to->kind == YamlNode::Kind::kList && !to->items.empty()) {
      for (const YamlNode& each : to->items) {
        mail.to.push_back(read_address(each, "item of to", problems));
      }
    } else {
      problems.add(to->at, "to", "not a list of addresses", "write to: [oncall@example.org]");
    }
  }
  mail.user = read_line(map, "user");
  receiver.secret_file = read_file_name(map, "password_file");
  receiver.trust = read_file_name(map, "trust");
  if (mail.user.empty() != receiver.secret_file.empty() && map.is_map()) {
    problems.add(map.at(), "mail", "user and password_file go together", "give both, or neither");
  }
  if (!mail.user.empty() && mail.tls == Mail::Tls::kNever) {
    problems.add(map.at(), "mail", "a password would be sent for all to read",
                 "write tls: starttls or tls: implicit");
  }
  map.finish();
}

struct KindReader {
  std::string_view name;
  Receiver::Kind kind;
  void (*read)(const YamlNode& node, Receiver& receiver, Problems& problems);
};

constexpr KindReader kKindReaders[] = {
    {"webhook", Receiver::Kind::kWebhook, read_webhook},
    {"alertmanager", Receiver::Kind::kAlertmanager, read_alertmanager},
    {"masakari", Receiver::Kind::kMasakari, read_masakari},
    {"kubernetes", Receiver::Kind::kKubernetes, read_kubernetes},
    {"mail", Receiver::Kind::kMail, read_mail},
    {"exec", Receiver::Kind::kExec, read_exec},
    {"journal", Receiver::Kind::kJournal, read_nothing},
    {"log", Receiver::Kind::kLog, read_nothing},
};

std::string kind_names() {
  std::string names;
  for (const KindReader& each : kKindReaders) {
    names += (names.empty() ? "" : ", ") + std::string(each.name);
  }
  return names;
}

Receiver read_receiver(const YamlNode& node, std::size_t number, Names& names, Problems& problems) {
  MapReader map(node, fmt::format("receiver {}", number), problems);
  Receiver receiver;
  if (const YamlNode* const name = map.require("name", "name: oncall")) {
    receiver.name = read_name(*name, "name", problems).value_or("");
    if (!receiver.name.empty()) names.add(receiver.name, name->at, problems);
  }
  int kinds = 0;
  for (const KindReader& each : kKindReaders) {
    const YamlNode* const options = map.find(each.name);
    if (options == nullptr) continue;
    ++kinds;
    receiver.kind = each.kind;
    each.read(*options, receiver, problems);
  }
  if (kinds != 1 && map.is_map()) {
    problems.add(map.at(), map.what(),
                 kinds == 0 ? "it does not say how" : "it says more than one way",
                 fmt::format("give one of: {}", kind_names()));
  }
  // Masakari may take five seconds by itself (notification_delay_max) before it answers.
  const bool slow = receiver.kind == Receiver::Kind::kMasakari;
  receiver.timeout = map.read_duration_in("timeout", slow ? 15s : 1s, 2min, slow ? 30s : 15s);
  map.finish();
  return receiver;
}

}  // namespace

std::vector<Receiver> read_receivers(const YamlNode& list, Names& names, Problems& problems) {
  std::vector<Receiver> receivers;
  receivers.reserve(list.items.size());
  for (const YamlNode& item : list.items) {
    receivers.push_back(read_receiver(item, receivers.size() + 1, names, problems));
  }
  return receivers;
}

}  // namespace wardmote::config
