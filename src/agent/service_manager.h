#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"

namespace wardmote::agent {

/// Tells the service manager how we are (sd_notify(3): one datagram of `KEY=value` lines to
/// $NOTIFY_SOCKET). Without a service manager every call does nothing; one that does not listen is
/// not waited for. Not by libsystemd, which would load libgcrypt, liblzma, libzstd, liblz4 and
/// libcap into the agent for that datagram.
class ServiceManager {
 public:
  /// From $NOTIFY_SOCKET and $WATCHDOG_USEC, before any other thread exists. They are taken out of
  /// the environment so that no child believes to be the service.
  static ServiceManager from_environment();
  /// `socket` empty: no service manager. A leading '@' is an abstract socket.
  ServiceManager(std::string socket, std::optional<Duration> watchdog);
  ServiceManager(const ServiceManager&) = delete;
  ServiceManager& operator=(const ServiceManager&) = delete;
  ServiceManager(ServiceManager&& other) noexcept;
  ServiceManager& operator=(ServiceManager&&) = delete;
  ~ServiceManager();

  void ready(std::string_view status) const;
  /// A reload begins; ready() ends it. (Type=notify; notify-reload would want the time as well.)
  void reloading() const;
  void status(std::string_view status) const;
  void alive() const;
  void stopping() const;
  /// How often alive() must be called: half of what the manager allows. Nothing when it does not
  /// watch.
  [[nodiscard]] std::optional<Duration> alive_every() const noexcept;

 private:
  void send(std::string_view lines) const;

  std::string socket_;
  std::optional<Duration> watchdog_;
  int descriptor_ = -1;
};

}  // namespace wardmote::agent
