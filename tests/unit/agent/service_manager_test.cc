#include "agent/service_manager.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <string>

#include <gtest/gtest.h>

namespace wardmote::agent {
namespace {

using namespace std::chrono_literals;

/// Stands in for systemd: an abstract datagram socket of this test.
class FakeManager {
 public:
  FakeManager() : name_("@wardmote-test-" + std::to_string(::getpid())) {
    descriptor_ = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path + 1, name_.data() + 1, name_.size() - 1);
    const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name_.size());
    EXPECT_EQ(::bind(descriptor_, reinterpret_cast<const sockaddr*>(&address), length), 0);
  }
  FakeManager(const FakeManager&) = delete;
  FakeManager& operator=(const FakeManager&) = delete;
  ~FakeManager() { ::close(descriptor_); }

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] std::string heard() const {
    std::array<char, 512> buffer{};
    const ssize_t size = ::recv(descriptor_, buffer.data(), buffer.size(), 0);
    return size < 0 ? "" : std::string(buffer.data(), static_cast<std::size_t>(size));
  }

 private:
  std::string name_;
  int descriptor_ = -1;
};

TEST(ServiceManager, HearsOneDatagramForEachEvent) {
  const FakeManager manager;
  const ServiceManager service(manager.name(), 10s);
  service.ready("watching\n2 clusters");
  EXPECT_EQ(manager.heard(), "READY=1\nSTATUS=watching\\n2 clusters\n");
  service.status("ok");
  EXPECT_EQ(manager.heard(), "STATUS=ok\n");
  service.alive();
  EXPECT_EQ(manager.heard(), "WATCHDOG=1\n");
  service.reloading();
  EXPECT_EQ(manager.heard(), "RELOADING=1\n");
  service.stopping();
  EXPECT_EQ(manager.heard(), "STOPPING=1\n");
  EXPECT_EQ(service.alive_every(), 5s);
}

TEST(ServiceManager, IsNotNeeded) {
  const ServiceManager none("", std::nullopt);
  none.ready("ok");
  EXPECT_EQ(none.alive_every(), std::nullopt);
  const ServiceManager gone("/nowhere/notify.sock", 10s);
  gone.ready("ok");
}

TEST(ServiceManager, TakesItsVariablesOutOfTheEnvironment) {
  const FakeManager manager;
  ::setenv("NOTIFY_SOCKET", manager.name().c_str(), 1);
  ::setenv("WATCHDOG_USEC", "4000000", 1);
  ::setenv("WATCHDOG_PID", "1", 1);
  const ServiceManager other = ServiceManager::from_environment();
  EXPECT_EQ(other.alive_every(), std::nullopt) << "the watchdog is for another process";
  EXPECT_EQ(std::getenv("NOTIFY_SOCKET"), nullptr);
  EXPECT_EQ(std::getenv("WATCHDOG_USEC"), nullptr);
  ::setenv("NOTIFY_SOCKET", manager.name().c_str(), 1);
  ::setenv("WATCHDOG_USEC", "4000000", 1);
  EXPECT_EQ(ServiceManager::from_environment().alive_every(), 2s);
}

}  // namespace
}  // namespace wardmote::agent
