#include "agent/receivers.h"

#include <array>
#include <cerrno>
#include <cstdio>
#include <expected>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "act/notify/channel.h"
#include "act/notify/channels.h"
#include "agent/config/config.h"
#include "agent/notifier.h"
#include "base/format.h"
#include "base/result.h"
#include "base/text.h"
#include "net/system_error.h"
#include "runtime/http_client.h"
#include "runtime/runtime.h"

namespace wardmote::agent {
namespace {

using act::notify::Channel;

constexpr std::size_t kLongestSecret = 4096;

/// The first line of a file; empty when there is no file to read.
Result<std::string> read_secret(const std::string& path) {
  if (path.empty()) return std::string();
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rbe"),
                                                             std::fclose);
  if (!file) return net::fail_errno(errno, "{}", path);
  std::array<char, kLongestSecret + 1> bytes{};
  const std::size_t size = std::fread(bytes.data(), 1, bytes.size(), file.get());
  const std::string_view secret = trim({bytes.data(), size});
  if (secret.empty() || size > kLongestSecret) {
    return fail(Errc::kInvalid, "{}: it is empty, or longer than {} bytes", path, kLongestSecret);
  }
  if (secret.find_first_of("\r\n") != std::string_view::npos) {
    return fail(Errc::kInvalid, "{}: it has more than one line", path);
  }
  return std::string(secret);
}

Result<std::unique_ptr<Channel>> make_channel(const config::Receiver& receiver,
                                              runtime::Runtime& runtime,
                                              runtime::HttpClient* http) {
  using Kind = config::Receiver::Kind;
  if (receiver.kind == Kind::kLog) return std::make_unique<act::notify::LogChannel>();
  if (receiver.kind == Kind::kExec) {
    return std::make_unique<act::notify::ExecChannel>(runtime, receiver.command);
  }
  if (http == nullptr) return fail(Errc::kInvalid, "this agent has no HTTP client");
  auto token = read_secret(receiver.token_file);
  if (!token) return std::unexpected(token.error());
  auto secret = read_secret(receiver.secret_file);
  if (!secret) return std::unexpected(secret.error());
  if (receiver.kind == Kind::kAlertmanager) {
    return std::make_unique<act::notify::AlertmanagerChannel>(
        runtime, *http,
        act::notify::AlertmanagerOptions{receiver.urls, *std::move(token), receiver.trust});
  }
  act::notify::WebhookOptions options;
  options.url = receiver.urls.front();
  options.body_template = receiver.body;
  options.token = *std::move(token);
  options.secret = *std::move(secret);
  options.trust = receiver.trust;
  return std::make_unique<act::notify::WebhookChannel>(runtime, *http, std::move(options));
}

std::string_view kind_name(config::Receiver::Kind kind) {
  switch (kind) {
    case config::Receiver::Kind::kWebhook: return "webhook";
    case config::Receiver::Kind::kAlertmanager: return "alertmanager";
    case config::Receiver::Kind::kExec: return "exec";
    case config::Receiver::Kind::kLog: return "log";
  }
  return "log";
}

}  // namespace

Result<NotifierOptions> make_receivers(const config::Notify& notify, runtime::Runtime& runtime,
                                       runtime::HttpClient* http) {
  NotifierOptions options;
  options.policy.routes = notify.routes;
  options.maintenance = notify.maintenance;
  for (const config::Receiver& receiver : notify.receivers) {
    auto channel = make_channel(receiver, runtime, http);
    if (!channel) return with_context(channel, "receiver {}", receiver.name);
    options.kinds[receiver.name] = kind_name(receiver.kind);
    options.receivers[receiver.name] = {*std::move(channel), receiver.timeout};
  }
  return options;
}

}  // namespace wardmote::agent
