#pragma once

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "net/asio_runtime.h"
#include "net/unique_fd.h"

namespace wardmote::net {

/// The real runtime and a folder of its own for sockets.
class NetTest : public ::testing::Test {
 protected:
  NetTest() {
    std::string pattern = ::testing::TempDir() + "wardmote-net-XXXXXX";
    folder_ = ::mkdtemp(pattern.data());
  }
  ~NetTest() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] std::string path(std::string_view name) const { return (folder_ / name).string(); }
  [[nodiscard]] runtime::Endpoint unix_at(std::string_view name) const {
    return runtime::Endpoint::unix_socket(path(name));
  }
  [[nodiscard]] runtime::Deadline in(Duration time) const { return runtime_.deadline_in(time); }

  /// A TCP port on the loopback that nobody uses at the moment.
  static std::uint16_t free_port() {
    const UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof address;
    ::bind(fd.get(), reinterpret_cast<sockaddr*>(&address), size);
    ::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&address), &size);
    return ntohs(address.sin_port);
  }

  std::filesystem::path folder_;
  AsioRuntime runtime_;
};

/// Reads until `text` has `size` bytes.
inline runtime::Task<Result<std::string>> read_exactly(runtime::Stream* stream, std::size_t size,
                                                       runtime::Deadline deadline) {
  std::string text(size, '\0');
  std::size_t have = 0;
  while (have < size) {
    const Result<std::size_t> got =
        co_await stream->read_some(std::span(text).subspan(have), deadline);
    if (!got) co_return std::unexpected(got.error());
    have += *got;
  }
  co_return text;
}

}  // namespace wardmote::net
