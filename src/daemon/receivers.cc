#include "daemon/receivers.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <expected>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "act/notify/channel.h"
#include "act/notify/channels.h"
#include "act/notify/journal.h"
#include "act/notify/kubernetes.h"
#include "act/notify/mail.h"
#include "act/notify/masakari.h"
#include "act/notify/masakari_client.h"
#include "act/notify/secret.h"
#include "act/notify/services/service.h"
#include "base/format.h"
#include "base/hash.h"
#include "base/result.h"
#include "codec/url.h"
#include "config/config.h"
#include "daemon/pod.h"
#include "incidents/notifier.h"
#include "judge/notify/router.h"
#include "net/journal_socket.h"
#include "net/secret.h"
#include "runtime/runtime.h"

namespace wardmote::daemon {
namespace {

using act::notify::AlertmanagerOptions;
using act::notify::Channel;
using act::notify::KubernetesOptions;
using act::notify::MailOptions;
using act::notify::MasakariOptions;
using act::notify::ServiceOptions;
using act::notify::WebhookOptions;

constexpr int kMasakariRetries = 12;
constexpr const char* kJournalSocket = "/run/systemd/journal/socket";

/// Into `secret`, from its file.
Result<void> fill(act::notify::Secret& secret) {
  auto text = net::read_secret(secret.file);
  if (!text) return std::unexpected(text.error());
  secret.text = *std::move(text);
  return {};
}

/// The address in `file`, if it is in one. It may be a secret, so no error repeats it.
Result<void> fill_url(std::string& url, act::notify::Secret& file) {
  if (file.file.empty()) return {};
  if (auto read = fill(file); !read) return read;
  if (!codec::parse_url(file.text))
    return fail(Errc::kInvalid, "{}: it is not an http:// or https:// address", file.file);
  url = file.text;
  return {};
}

using Made = Result<std::unique_ptr<Channel>>;

/// Makes the channel of each kind of receiver.
struct ChannelMaker {
  runtime::Runtime& runtime;
  const ReceiverNeeds& needs;

  Made operator()(WebhookOptions options) const {
    if (needs.http == nullptr) return no_client("HTTP");
    if (auto read = fill_url(options.url, options.url_file); !read)
      return std::unexpected(read.error());
    if (auto read = fill(options.token); !read) return std::unexpected(read.error());
    if (auto read = fill(options.secret); !read) return std::unexpected(read.error());
    return std::make_unique<act::notify::WebhookChannel>(runtime, *needs.http, std::move(options));
  }

  Made operator()(ServiceOptions options) const {
    if (needs.http == nullptr) return no_client("HTTP");
    if (auto read = fill_url(options.url, options.url_file); !read)
      return std::unexpected(read.error());
    const auto rule = options.service->url_problem;
    const std::string_view problem = rule == nullptr ? std::string_view() : rule(options.url);
    if (!problem.empty()) return fail(Errc::kInvalid, "{}: {}", options.url_file.file, problem);
    if (auto read = fill(options.token); !read) return std::unexpected(read.error());
    return std::make_unique<act::notify::ServiceChannel>(runtime, *needs.http, std::move(options));
  }

  Made operator()(AlertmanagerOptions options) const {
    if (needs.http == nullptr) return no_client("HTTP");
    if (auto read = fill(options.token); !read) return std::unexpected(read.error());
    std::string url = options.urls.front();
    return std::make_unique<act::notify::AlertmanagerChannel>(runtime, *needs.http, std::move(url),
                                                              std::move(options));
  }

  Made operator()(MasakariOptions options) const {
    if (needs.http == nullptr) return no_client("HTTP");
    auto secret = net::read_secret(options.keystone.secret_file);
    if (!secret) return std::unexpected(secret.error());
    options.keystone.login.secret = *std::move(secret);
    return std::make_unique<act::notify::MasakariChannel>(runtime, *needs.http, std::move(options));
  }

  Made operator()(KubernetesOptions options) const {
    if (needs.http == nullptr) return no_client("HTTP");
    const bool in_pod = options.server.empty();
    if (in_pod && needs.pod_server.empty()) {
      return fail(Errc::kInvalid,
                  "this is not a pod (KUBERNETES_SERVICE_HOST is not set): give a server");
    }
    if (options.token_file.empty()) options.token_file = kPodToken;
    if (in_pod) options.server = needs.pod_server;
    if (in_pod && options.trust.empty()) options.trust = kPodTrust;
    const auto read_token = [file = options.token_file] { return net::read_secret(file); };
    if (const auto token = read_token(); !token) return std::unexpected(token.error());
    return std::make_unique<act::notify::KubernetesChannel>(
        runtime, *needs.http, std::move(options), needs.node, read_token);
  }

  Made operator()(MailOptions options) const {
    if (needs.mail == nullptr) return no_client("mail");
    if (auto read = fill(options.password); !read) return std::unexpected(read.error());
    return std::make_unique<act::notify::MailChannel>(runtime, *needs.mail, std::move(options),
                                                      needs.node);
  }

  Made operator()(act::notify::ExecOptions options) const {
    return std::make_unique<act::notify::ExecChannel>(runtime, std::move(options));
  }

  Made operator()(const act::notify::JournalOptions&) const {
    return std::make_unique<act::notify::JournalChannel>(
        runtime, std::make_unique<net::JournalSocket>(kJournalSocket));
  }

  Made operator()(const act::notify::LogOptions&) const {
    return std::make_unique<act::notify::LogChannel>();
  }

 private:
  static Made no_client(std::string_view of) {
    return fail(Errc::kInvalid, "this agent has no {} client", of);
  }
};

Made make_channel(const config::Receiver& receiver, runtime::Runtime& runtime,
                  const ReceiverNeeds& needs) {
  return std::visit(ChannelMaker{runtime, needs}, receiver.options);
}

/// Each member of a cluster of Alertmanagers is a receiver: `am@10.0.0.1:9093`. What it was told
/// belongs to its address, not to its place in a list that somebody may sort. A configured name has
/// no `@`.
std::vector<config::Receiver> members_of(const config::Receiver& receiver) {
  const auto* const cluster = std::get_if<AlertmanagerOptions>(&receiver.options);
  if (cluster == nullptr) return {receiver};
  std::vector<config::Receiver> members;
  for (const std::string& text : cluster->urls) {
    config::Receiver& member = members.emplace_back(receiver);
    std::get<AlertmanagerOptions>(member.options).urls = {text};
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

Result<incidents::NotifierOptions> make_receivers(const config::Notify& notify,
                                                  runtime::Runtime& runtime,
                                                  const ReceiverNeeds& needs) {
  incidents::NotifierOptions options;
  options.maintenance = notify.maintenance;
  options.silences = notify.silences;
  for (const config::Receiver& given : notify.receivers) {
    for (const config::Receiver& receiver : members_of(given)) {
      auto channel = make_channel(receiver, runtime, needs);
      if (!channel) return with_context(channel, "receiver {}", receiver.name);
      if (const auto* const masakari = std::get_if<MasakariOptions>(&receiver.options)) {
        if (masakari->type == MasakariOptions::Type::kInstance)
          options.policy.recover.insert(receiver.name);
        // As its own monitors do, before the pauses grow.
        options.policy.retries[receiver.name].steady = kMasakariRetries;
      }
      options.kinds[receiver.name] = config::kind_name(receiver);
      const bool forgets = std::holds_alternative<AlertmanagerOptions>(receiver.options);
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

}  // namespace wardmote::daemon
