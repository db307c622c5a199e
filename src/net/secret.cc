#include "net/secret.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <expected>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/text.h"
#include "net/system_error.h"

namespace wardmote::net {
namespace {

constexpr std::size_t kLongestSecret = 4096;

}  // namespace

Result<SecretFile> open_secret(const std::string& path) {
  const int number = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (number < 0) return net::fail_errno(errno, "{}", path);
  SecretFile file(::fdopen(number, "rb"), std::fclose);
  struct ::stat about{};
  if (!file || ::fstat(number, &about) != 0) return net::fail_errno(errno, "{}", path);
  if (!S_ISREG(about.st_mode)) return fail(Errc::kInvalid, "{}: it is no regular file", path);
  return file;
}

Result<std::string> read_secret(const std::string& path) {
  if (path.empty()) return std::string();
  const Result<SecretFile> file = open_secret(path);
  if (!file) return std::unexpected(file.error());
  std::array<char, kLongestSecret + 1> bytes{};
  const std::size_t size = std::fread(bytes.data(), 1, bytes.size(), file->get());
  const std::string_view secret = trim({bytes.data(), size});
  if (secret.empty() || size > kLongestSecret) {
    return fail(Errc::kInvalid, "{}: it is empty, or longer than {} bytes", path, kLongestSecret);
  }
  if (secret.find_first_of("\r\n") != std::string_view::npos) {
    return fail(Errc::kInvalid, "{}: it has more than one line", path);
  }
  return std::string(secret);
}

}  // namespace wardmote::net
