#include "daemon/start_check.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "agent/access_rules.h"
#include "base/format.h"
#include "base/result.h"
#include "config/config.h"
#include "daemon/pod.h"
#include "daemon/receivers.h"
#include "net/asio_runtime.h"
#include "net/curl/http_client.h"
#include "net/secret.h"
#include "runtime/endpoint.h"
#include "runtime/tls.h"

namespace wardmote::daemon {
namespace {

std::optional<std::string> tls_problem(const config::Api& api, runtime::TlsLayer* tls) {
  if (tls == nullptr || !api.listen || api.listen->kind != runtime::Endpoint::Kind::kTls)
    return std::nullopt;
  const Result<void> able =
      tls->can_accept(api.listen->tls ? *api.listen->tls : runtime::TlsSettings{});
  if (able) return std::nullopt;
  return fmt::format("api: tls: {}", able.error().describe());
}

}  // namespace

std::optional<std::string> folder_problem(const std::string& data) {
  if (data.empty()) return std::nullopt;
  struct stat about{};
  if (::stat(data.c_str(), &about) != 0) {
    if (errno != ENOENT) {
      return fmt::format("data: {}: cannot be looked at: {}", data,
                         std::generic_category().message(errno));
    }
    return fmt::format(
        "data: {0}: there is no such folder; create it for the user that the agent runs as, for "
        "example: install -d -m 0750 -o wardmote -g wardmote {0}",
        data);
  }
  if (!S_ISDIR(about.st_mode)) return fmt::format("data: {}: is not a folder; name one", data);
  if (::faccessat(AT_FDCWD, data.c_str(), W_OK | X_OK, AT_EACCESS) == 0) return std::nullopt;
  return fmt::format(
      "data: {0}: user {1} may not write there: {2}; run the agent as the folder's owner, or give "
      "it "
      "the folder: chown {1} {0}",
      data, ::geteuid(), std::generic_category().message(errno));
}

std::vector<std::string> start_problems(const config::Config& config, net::AsioRuntime& runtime,
                                        runtime::TlsLayer* tls) {
  std::vector<std::string> problems;
  if (auto problem = folder_problem(config.data)) problems.push_back(*std::move(problem));
  std::ranges::move(agent::access_problems(config.api), std::back_inserter(problems));
  if (auto problem = tls_problem(config.api, tls)) problems.push_back(*std::move(problem));
  if (config.store) {
    const Result<std::string> password = net::read_secret(config.store->password_file);
    if (!password)
      problems.push_back(fmt::format("store: password_file: {}", password.error().describe()));
  }
  net::CurlHttpClient http(runtime);
  const ReceiverNeeds needs{&http, &http, config.node.name, pod_server()};
  std::ranges::move(receiver_problems(config.notify, runtime, needs), std::back_inserter(problems));
  return problems;
}

}  // namespace wardmote::daemon
