#include "cli/find_agent.h"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <expected>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/result.h"
#include "base/text.h"
#include "cli/agent_address.h"
#include "cli/command.h"
#include "cli/environment.h"
#include "runtime/endpoint.h"
#include "runtime/tls.h"

namespace wardmote::cli {
namespace {

constexpr std::size_t kFileCap = 4096;

Result<std::string> read_token(const std::string& path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rbe"),
                                                             std::fclose);
  if (!file) {
    return fail(Errc::kInvalid, "token file {}: {}", escape_control(path),
                std::generic_category().message(errno));
  }
  std::string bytes(kFileCap, '\0');
  bytes.resize(std::fread(bytes.data(), 1, bytes.size(), file.get()));
  std::string token(trim(bytes));
  const bool good =
      !token.empty() && std::ranges::all_of(token, [](char c) { return c > ' ' && c < 0x7f; });
  if (!good) {
    return fail(Errc::kInvalid, "token file {}: holds no token, one line of visible characters",
                escape_control(path));
  }
  return token;
}

/// The value of the option, else of the environment variable.
std::string given(const Call& call, std::string_view option, const char* variable) {
  return call.has(option) ? call.value(option) : environment(variable);
}

/// With the TLS files that are given. TLS options are an error without https; environment variables
/// are not, because they may be for other agents.
Result<void> secure(const Call& call, AgentAddress& address) {
  const runtime::TlsSettings settings{.ca = given(call, "ca", "WARDMOTE_CA"),
                                      .certificate = given(call, "cert", "WARDMOTE_CERT"),
                                      .key = given(call, "key", "WARDMOTE_KEY")};
  if (settings.certificate.empty() != settings.key.empty())
    return fail(Errc::kInvalid, "--cert and --key go together");
  bool any = false;
  for (runtime::Endpoint& endpoint : address.endpoints) {
    if (endpoint.kind != runtime::Endpoint::Kind::kTls) continue;
    endpoint = runtime::Endpoint::tls_over_tcp(endpoint.host, endpoint.port, settings);
    any = true;
  }
  const bool meant = call.has("ca") || call.has("cert");
  if (any || !meant) return {};
  return fail(Errc::kInvalid, "--ca and --cert are for TLS: write --host https://HOST:PORT");
}

}  // namespace

Result<AgentAddress> find_agent(const Call& call) {
  Result<AgentAddress> address = agent_address(call, environment("WARDMOTE_HOST"));
  if (!address) return address;
  const Result<void> secured = secure(call, *address);
  if (!secured) return std::unexpected(secured.error());
  const std::string path = given(call, "token-file", "WARDMOTE_TOKEN_FILE");
  if (path.empty()) return address;
  Result<std::string> token = read_token(path);
  if (!token) return std::unexpected(token.error());
  address->token = *std::move(token);
  return address;
}

}  // namespace wardmote::cli
