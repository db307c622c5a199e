#include "cli/find_agent.h"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <expected>
#include <memory>
#include <string>
#include <system_error>
#include <utility>

#include "base/result.h"
#include "base/text.h"
#include "cli/agent_address.h"
#include "cli/command.h"
#include "cli/environment.h"

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

}  // namespace

Result<AgentAddress> find_agent(const Call& call) {
  Result<AgentAddress> address = agent_address(call, environment("WARDMOTE_HOST"));
  if (!address) return address;
  const std::string path =
      call.has("token-file") ? call.value("token-file") : environment("WARDMOTE_TOKEN_FILE");
  if (path.empty()) return address;
  Result<std::string> token = read_token(path);
  if (!token) return std::unexpected(token.error());
  address->token = *std::move(token);
  return address;
}

}  // namespace wardmote::cli
