#include "cli/doctor/surroundings.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timex.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include "base/format.h"
#include "base/text.h"
#include "cli/doctor/diagnosis.h"

namespace wardmote::cli {
namespace {

namespace fs = std::filesystem;

std::optional<bool> clock_synchronised() {
  timex now{};  // modes 0: only asks
  const int state = ::adjtimex(&now);
  if (state < 0) return std::nullopt;
  return state != TIME_ERROR && (now.status & STA_UNSYNC) == 0;
}

/// The process at the other end of a unix socket.
std::optional<pid_t> process_at(const std::string& socket) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (socket.empty() || socket.size() >= sizeof(address.sun_path)) return std::nullopt;
  std::memcpy(address.sun_path, socket.data(), socket.size());
  const int descriptor = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (descriptor < 0) return std::nullopt;
  ucred peer{};
  socklen_t size = sizeof(peer);
  const bool known =
      ::connect(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0 &&
      ::getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0;
  ::close(descriptor);
  if (!known || peer.pid <= 0) return std::nullopt;
  return peer.pid;
}

std::optional<std::uint64_t> open_descriptors(pid_t process) {
  std::error_code error;
  const fs::directory_iterator entries(fmt::format("/proc/{}/fd", process), error);
  if (error) return std::nullopt;
  return static_cast<std::uint64_t>(std::distance(entries, {}));
}

/// The soft limit: `Max open files            1024                 524288               files`.
std::optional<std::uint64_t> descriptor_limit(pid_t process) {
  std::ifstream limits(fmt::format("/proc/{}/limits", process));
  std::string line;
  while (std::getline(limits, line)) {
    std::string_view rest = line;
    if (!consume_prefix(rest, "Max open files")) continue;
    rest = trim(rest);
    return parse_number<std::uint64_t>(take_until(rest, ' '));
  }
  return std::nullopt;
}

/// `some avg10=1.23 avg60=…` of the kernel's pressure stall information.
std::optional<double> cpu_pressure() {
  std::ifstream file("/proc/pressure/cpu");
  std::string word;
  double value = 0;
  if (!(file >> word) || word != "some") return std::nullopt;
  file.ignore(std::char_traits<char>::length(" avg10="));
  if (!(file >> value)) return std::nullopt;
  return value;
}

}  // namespace

Surroundings look_around(const std::string& socket) {
  Surroundings around;
  around.clock_synchronised = clock_synchronised();
  around.cpu_pressure = cpu_pressure();
  if (const auto process = process_at(socket)) {
    around.agent_descriptors = open_descriptors(*process);
    around.agent_limit = descriptor_limit(*process);
  }
  struct stat facts{};
  if (!socket.empty() && ::stat(socket.c_str(), &facts) == 0)
    around.socket_mode = facts.st_mode & 07777;
  return around;
}

}  // namespace wardmote::cli
