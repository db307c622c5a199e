#include "agent/service_manager.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/epoch_ms.h"
#include "base/text.h"
#include "base/time.h"

namespace wardmote::agent {
namespace {

// Called before any other thread exists.
// NOLINTBEGIN(concurrency-mt-unsafe)
std::string take_variable(const char* name) {
  const char* const value = std::getenv(name);
  std::string taken = value != nullptr ? value : "";
  ::unsetenv(name);
  return taken;
}
// NOLINTEND(concurrency-mt-unsafe)

}  // namespace

ServiceManager ServiceManager::from_environment() {
  std::string socket = take_variable("NOTIFY_SOCKET");
  const auto interval = parse_number<std::int64_t>(take_variable("WATCHDOG_USEC"));
  const auto process = parse_number<std::int64_t>(take_variable("WATCHDOG_PID"));
  // The variables may be a leftover of a parent that is watched itself.
  const bool ours = !process || *process == ::getpid();
  std::optional<Duration> watchdog;
  if (interval && *interval >= 1000 && ours) watchdog = duration_of_ms(*interval / 1000);
  return {std::move(socket), watchdog};
}

ServiceManager::ServiceManager(std::string socket, std::optional<Duration> watchdog)
    : socket_(std::move(socket)), watchdog_(watchdog) {
  if (!socket_.empty())
    descriptor_ = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

ServiceManager::ServiceManager(ServiceManager&& other) noexcept
    : socket_(std::move(other.socket_)),
      watchdog_(other.watchdog_),
      descriptor_(std::exchange(other.descriptor_, -1)) {}

ServiceManager::~ServiceManager() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void ServiceManager::ready(std::string_view status) const {
  send("READY=1\nSTATUS=" + escape_control(status) + "\n");
}

void ServiceManager::status(std::string_view status) const {
  send("STATUS=" + escape_control(status) + "\n");
}

void ServiceManager::reloading() const {
  send("RELOADING=1\n");
}

void ServiceManager::alive() const {
  send("WATCHDOG=1\n");
}

void ServiceManager::stopping() const {
  send("STOPPING=1\n");
}

std::optional<Duration> ServiceManager::alive_every() const noexcept {
  if (descriptor_ < 0 || !watchdog_) return std::nullopt;
  return *watchdog_ / 2;
}

void ServiceManager::send(std::string_view lines) const {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (descriptor_ < 0 || socket_.size() >= sizeof(address.sun_path)) return;
  std::memcpy(address.sun_path, socket_.data(), socket_.size());
  if (address.sun_path[0] == '@') address.sun_path[0] = '\0';
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + socket_.size());
  // Nothing useful can be done when the manager does not listen.
  (void)::sendto(descriptor_, lines.data(), lines.size(), MSG_NOSIGNAL,
                 reinterpret_cast<const sockaddr*>(&address), length);
}

}  // namespace wardmote::agent
