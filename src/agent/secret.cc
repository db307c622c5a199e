#include "agent/secret.h"

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/text.h"
#include "net/system_error.h"

namespace wardmote::agent {
namespace {

constexpr std::size_t kLongestSecret = 4096;

}  // namespace

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

}  // namespace wardmote::agent
