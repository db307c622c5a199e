#include "act/reconcile/kube_login.h"

#include <cstddef>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "base/text.h"
#include "codec/yaml/kubeconfig.h"
#include "runtime/task.h"

namespace wardmote::act::reconcile {

using runtime::Task;

namespace {

constexpr std::size_t kMostBytes = 1 << 20;
constexpr std::string_view kPodFolder = "/var/run/secrets/kubernetes.io/serviceaccount/";

Result<void> check_token(const std::string& token) {
  if (token.find_first_of("\r\n") == std::string::npos && token.size() <= 16384) return {};
  return fail(Errc::kInvalid, "the token has more than one line, or is too long");
}

}  // namespace

Task<Result<std::string>> KubeLogin::read_beside(std::string path, std::string otherwise) {
  if (path.empty()) co_return otherwise;
  if (!path.starts_with('/')) {
    const std::size_t slash = options_.kubeconfig.rfind('/');
    if (slash != std::string::npos) path = options_.kubeconfig.substr(0, slash + 1) + path;
  }
  std::string where = path;
  const auto bytes = co_await files_.read(std::move(path), kMostBytes);
  if (!bytes) co_return std::unexpected(bytes.error());
  if (!*bytes) co_return fail(Errc::kMissing, "{}", escape_control(where));
  co_return **bytes;
}

Task<Result<KubeAccess>> KubeLogin::read_pod() {
  if (options_.pod_server.empty())
    co_return fail(Errc::kInvalid,
                   "this is no pod (KUBERNETES_SERVICE_HOST is not set): give a kubeconfig");
  KubeAccess access{.server = options_.pod_server};
  const std::string folder(kPodFolder);
  std::string at = folder + "token";
  auto token = co_await read_beside(std::move(at), "");
  if (!token) co_return std::unexpected(token.error());
  at = folder + "ca.crt";
  auto ca = co_await read_beside(std::move(at), "");
  if (!ca) co_return std::unexpected(ca.error());
  at = folder + "namespace";
  const auto space = co_await files_.read(std::move(at), kMostBytes);
  access.token = trim(*token);
  access.ca = *std::move(ca);
  if (space && *space) access.space = trim(**space);
  if (auto good = check_token(access.token); !good) co_return std::unexpected(good.error());
  co_return access;
}

Task<Result<KubeAccess>> KubeLogin::read() {
  if (options_.kubeconfig.empty()) {
    Result<KubeAccess> pod = co_await read_pod();
    co_return pod;
  }
  std::string path = options_.kubeconfig;
  const auto bytes = co_await files_.read(std::move(path), kMostBytes);
  if (!bytes) co_return std::unexpected(bytes.error());
  if (!*bytes && options_.kubeconfig.contains(':'))
    co_return fail(Errc::kMissing,
                   "{}: there is no such file, and a list of kubeconfigs is not read; name one",
                   escape_control(options_.kubeconfig));
  if (!*bytes) co_return fail(Errc::kMissing, "{}", options_.kubeconfig);
  auto config = codec::parse_kubeconfig(**bytes, options_.context);
  if (!config) co_return with_context(config, "{}", options_.kubeconfig);
  KubeAccess access{.server = std::move(config->server), .space = std::move(config->space)};
  // Data beats a file, as kubectl has it.
  if (!config->ca.empty()) config->ca_file.clear();
  if (!config->certificate.empty()) config->certificate_file.clear();
  if (!config->key.empty()) config->key_file.clear();
  auto ca = co_await read_beside(std::move(config->ca_file), std::move(config->ca));
  if (!ca) co_return std::unexpected(ca.error());
  auto certificate =
      co_await read_beside(std::move(config->certificate_file), std::move(config->certificate));
  if (!certificate) co_return std::unexpected(certificate.error());
  auto key = co_await read_beside(std::move(config->key_file), std::move(config->key));
  if (!key) co_return std::unexpected(key.error());
  const std::string token_file = config->token_file;
  auto token = co_await read_beside(std::move(config->token_file), std::move(config->token));
  if (!token) co_return std::unexpected(token.error());
  if (!token_file.empty() && trim(*token).empty())
    co_return fail(Errc::kInvalid, "the token file {} is empty", escape_control(token_file));
  access.ca = *std::move(ca);
  access.certificate = *std::move(certificate);
  access.key = *std::move(key);
  access.token = trim(*token);
  if (auto good = check_token(access.token); !good) co_return std::unexpected(good.error());
  co_return access;
}

}  // namespace wardmote::act::reconcile
