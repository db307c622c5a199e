#include "agent/receivers.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <expected>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "act/notify/channel.h"
#include "act/notify/channels.h"
#include "act/notify/journal.h"
#include "act/notify/kubernetes.h"
#include "act/notify/mail.h"
#include "act/notify/masakari.h"
#include "agent/notifier.h"
#include "agent/pod.h"
#include "agent/secret.h"
#include "base/format.h"
#include "base/hash.h"
#include "base/result.h"
#include "codec/url.h"
#include "config/config.h"
#include "judge/notify/router.h"
#include "net/journal_socket.h"
#include "runtime/mail_client.h"
#include "runtime/runtime.h"

namespace wardmote::agent {
namespace {

using act::notify::Channel;

constexpr int kMasakariRetries = 12;
constexpr const char* kJournalSocket = "/run/systemd/journal/socket";

using Made = Result<std::unique_ptr<Channel>>;

Made make_webhook(const config::Receiver& receiver, runtime::Runtime& runtime,
                  const ReceiverNeeds& needs) {
  auto token = read_secret(receiver.token_file);
  if (!token) return std::unexpected(token.error());
  auto secret = read_secret(receiver.secret_file);
  if (!secret) return std::unexpected(secret.error());
  act::notify::WebhookOptions options;
  options.url = receiver.urls.front();
  options.body_template = receiver.body;
  options.token = *std::move(token);
  options.secret = *std::move(secret);
  options.trust = receiver.trust;
  return std::make_unique<act::notify::WebhookChannel>(runtime, *needs.http, std::move(options));
}

Made make_alertmanager(const config::Receiver& receiver, runtime::Runtime& runtime,
                       const ReceiverNeeds& needs) {
  auto token = read_secret(receiver.token_file);
  if (!token) return std::unexpected(token.error());
  return std::make_unique<act::notify::AlertmanagerChannel>(
      runtime, *needs.http,
      act::notify::AlertmanagerOptions{receiver.urls.front(), *std::move(token), receiver.trust});
}

Made make_masakari(const config::Receiver& receiver, runtime::Runtime& runtime,
                   const ReceiverNeeds& needs) {
  using Type = act::notify::MasakariOptions::Type;
  const config::Masakari& given = receiver.masakari;
  const config::Keystone& keystone = given.keystone;
  auto secret = read_secret(keystone.secret_file);
  if (!secret) return std::unexpected(secret.error());
  act::notify::MasakariOptions options;
  if (given.type == config::Masakari::Type::kHost) options.type = Type::kHost;
  if (given.type == config::Masakari::Type::kInstance) options.type = Type::kInstance;
  options.url = receiver.urls.front();
  options.host = given.host;
  options.name_label = given.name_label;
  options.microversion = given.microversion;
  options.keystone = keystone.url;
  options.login = {keystone.credential, keystone.user,           keystone.user_domain,
                   keystone.project,    keystone.project_domain, *std::move(secret)};
  options.region = keystone.region;
  options.interface = keystone.interface;
  options.trust = receiver.trust;
  return std::make_unique<act::notify::MasakariChannel>(runtime, *needs.http, std::move(options));
}

Made make_kubernetes(const config::Receiver& receiver, runtime::Runtime& runtime,
                     const ReceiverNeeds& needs) {
  const config::Kubernetes& given = receiver.kubernetes;
  const bool in_pod = receiver.urls.front().empty();
  if (in_pod && needs.pod_server.empty()) {
    return fail(Errc::kInvalid,
                "this is not a pod (KUBERNETES_SERVICE_HOST is not set): give a server");
  }
  const std::string file =
      receiver.token_file.empty() ? std::string(kPodToken) : receiver.token_file;
  if (const auto token = read_secret(file); !token) return std::unexpected(token.error());
  act::notify::KubernetesOptions options;
  options.server = in_pod ? needs.pod_server : receiver.urls.front();
  options.trust = receiver.trust.empty() && in_pod ? std::string(kPodTrust) : receiver.trust;
  options.token = [file] { return read_secret(file); };
  options.kind = given.kind;
  options.version = given.version;
  options.space = given.space;
  options.object = given.object;
  options.name_label = given.name_label;
  options.node = needs.node;
  return std::make_unique<act::notify::KubernetesChannel>(runtime, *needs.http, std::move(options));
}

Made make_mail(const config::Receiver& receiver, runtime::Runtime& runtime,
               const ReceiverNeeds& needs) {
  using Tls = runtime::MailCall::Tls;
  const config::Mail& given = receiver.mail;
  auto password = read_secret(receiver.secret_file);
  if (!password) return std::unexpected(password.error());
  act::notify::MailOptions options;
  options.server = given.server;
  if (given.tls == config::Mail::Tls::kImplicit) options.tls = Tls::kImplicit;
  if (given.tls == config::Mail::Tls::kNever) options.tls = Tls::kNever;
  options.trust = receiver.trust;
  options.user = given.user;
  options.password = *std::move(password);
  options.from = given.from;
  options.to = given.to;
  options.node = needs.node;
  return std::make_unique<act::notify::MailChannel>(runtime, *needs.mail, std::move(options));
}

Made make_channel(const config::Receiver& receiver, runtime::Runtime& runtime,
                  const ReceiverNeeds& needs) {
  using Kind = config::Receiver::Kind;
  if (receiver.kind == Kind::kMail && needs.mail == nullptr) {
    return fail(Errc::kInvalid, "this agent has no mail client");
  }
  const bool by_http = receiver.kind == Kind::kWebhook || receiver.kind == Kind::kAlertmanager ||
                       receiver.kind == Kind::kMasakari || receiver.kind == Kind::kKubernetes;
  if (by_http && needs.http == nullptr) {
    return fail(Errc::kInvalid, "this agent has no HTTP client");
  }
  switch (receiver.kind) {
    case Kind::kWebhook: return make_webhook(receiver, runtime, needs);
    case Kind::kAlertmanager: return make_alertmanager(receiver, runtime, needs);
    case Kind::kMasakari: return make_masakari(receiver, runtime, needs);
    case Kind::kKubernetes: return make_kubernetes(receiver, runtime, needs);
    case Kind::kMail: return make_mail(receiver, runtime, needs);
    case Kind::kExec: return std::make_unique<act::notify::ExecChannel>(runtime, receiver.command);
    case Kind::kJournal:
      return std::make_unique<act::notify::JournalChannel>(
          runtime, std::make_unique<net::JournalSocket>(kJournalSocket));
    case Kind::kLog: break;
  }
  return std::make_unique<act::notify::LogChannel>();
}

std::string_view kind_name(config::Receiver::Kind kind) {
  switch (kind) {
    case config::Receiver::Kind::kWebhook: return "webhook";
    case config::Receiver::Kind::kAlertmanager: return "alertmanager";
    case config::Receiver::Kind::kMasakari: return "masakari";
    case config::Receiver::Kind::kKubernetes: return "kubernetes";
    case config::Receiver::Kind::kMail: return "mail";
    case config::Receiver::Kind::kExec: return "exec";
    case config::Receiver::Kind::kJournal: return "journal";
    case config::Receiver::Kind::kLog: return "log";
  }
  return "log";
}

/// Each member of a cluster of Alertmanagers is a receiver: `am@10.0.0.1:9093`. What it was told
/// belongs to its address, not to its place in a list that somebody may sort. A configured name has
/// no `@`.
std::vector<config::Receiver> members_of(const config::Receiver& receiver) {
  if (receiver.kind != config::Receiver::Kind::kAlertmanager) return {receiver};
  std::vector<config::Receiver> members;
  for (const std::string& text : receiver.urls) {
    config::Receiver& member = members.emplace_back(receiver);
    member.urls = {text};
    const auto url = codec::parse_url(text);
    if (!url) continue;  // make_channel() says so
    const bool v6 = url->host.contains(':');
    member.name += fmt::format("@{}{}{}:{}", v6 ? "[" : "", url->host, v6 ? "]" : "", url->port);
    // Several may be behind one address. A path may hold a secret.
    if (url->target.size() > 1)
      member.name += fmt::format("#{:08x}", static_cast<std::uint32_t>(fnv1a(url->target)));
    const auto is_called = [&](const config::Receiver& other) {
      return &other != &member && other.name == member.name;
    };
    if (std::ranges::any_of(members, is_called)) members.pop_back();  // the same twice
  }
  return members;
}

/// To each member of its receiver.
void add_route(const judge::notify::Route& route, judge::notify::RouterPolicy& policy) {
  std::vector<judge::notify::Route> routes;
  for (const auto& [member, name] : policy.configured_as) {
    if (name == route.receiver) routes.emplace_back(route).receiver = member;
  }
  if (routes.empty()) routes.push_back(route);
  for (judge::notify::Route& each : routes) each.go_on = true;
  routes.back().go_on = route.go_on;
  policy.routes.insert(policy.routes.end(), routes.begin(), routes.end());
}

}  // namespace

Result<NotifierOptions> make_receivers(const config::Notify& notify, runtime::Runtime& runtime,
                                       const ReceiverNeeds& needs) {
  NotifierOptions options;
  options.maintenance = notify.maintenance;
  options.silences = notify.silences;
  for (const config::Receiver& given : notify.receivers) {
    for (const config::Receiver& receiver : members_of(given)) {
      auto channel = make_channel(receiver, runtime, needs);
      if (!channel) return with_context(channel, "receiver {}", receiver.name);
      if (receiver.kind == config::Receiver::Kind::kMasakari) {
        // As its own monitors do, before the pauses grow.
        options.policy.retries[receiver.name].steady = kMasakariRetries;
      }
      options.kinds[receiver.name] = kind_name(receiver.kind);
      const bool forgets = receiver.kind == config::Receiver::Kind::kAlertmanager;
      // An end that it has not heard of keeps its alert firing for so long.
      if (forgets) options.policy.retries[receiver.name].give_up = act::notify::kAlertLasts;
      options.receivers[receiver.name] = {*std::move(channel), receiver.timeout, forgets};
      if (receiver.name != given.name) options.policy.configured_as[receiver.name] = given.name;
    }
  }
  for (const judge::notify::Route& route : notify.routes) {
    add_route(route, options.policy);
  }
  return options;
}

std::vector<std::string> receiver_problems(const config::Notify& notify, runtime::Runtime& runtime,
                                           const ReceiverNeeds& needs) {
  std::vector<std::string> problems;
  for (const config::Receiver& receiver : notify.receivers) {
    const auto channel = make_channel(receiver, runtime, needs);
    if (channel) continue;
    problems.push_back(fmt::format("receiver {}: {}", receiver.name, channel.error().describe()));
  }
  return problems;
}

}  // namespace wardmote::agent
