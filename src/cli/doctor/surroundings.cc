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
#include <span>
#include <string>
#include <string_view>
#include <system_error>

#include "base/format.h"
#include "base/text.h"
#include "cli/doctor/diagnosis.h"
#include "cli/doctor/rights.h"

namespace wardmote::cli {
namespace {

namespace fs = std::filesystem;

std::optional<bool> clock_synchronised() {
  timex now{};  // modes 0: only reads
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

/// A value of `some avg10=1.23 avg60=…`, the kernel's pressure stall information.
std::optional<double> cpu_pressure() {
  std::ifstream file("/proc/pressure/cpu");
  std::string word;
  double value = 0;
  if (!(file >> word) || word != "some") return std::nullopt;
  file.ignore(std::char_traits<char>::length(" avg10="));
  if (!(file >> value)) return std::nullopt;
  return value;
}

/// The name of a number in /etc/passwd or /etc/group, whose lines begin alike: `name:x:number:`.
/// Not getpwuid(3), which a static program cannot use.
std::string name_in(const char* table, std::uint32_t number) {
  std::ifstream lines(table);
  std::string line;
  while (std::getline(lines, line)) {
    std::string_view rest = line;
    const std::string_view name = take_until(rest, ':');
    take_until(rest, ':');
    if (parse_number<std::uint32_t>(take_until(rest, ':')) == number) return std::string(name);
  }
  return {};
}

WayPart::Kind kind_of(mode_t mode) noexcept {
  if (S_ISDIR(mode)) return WayPart::Kind::kFolder;
  if (S_ISSOCK(mode)) return WayPart::Kind::kSocket;
  return S_ISFIFO(mode) ? WayPart::Kind::kFifo : WayPart::Kind::kOther;
}

RefusedFile way_to(const std::string& path) {
  RefusedFile file{path, {}};
  std::error_code error;
  // A symbolic link leads elsewhere, and the permissions there count.
  const fs::path real = fs::weakly_canonical(path, error);
  if (error) return file;
  fs::path reached;
  for (const fs::path& name : real) {
    reached /= name;
    struct stat facts{};
    if (::stat(reached.c_str(), &facts) != 0) break;
    file.way.push_back({kind_of(facts.st_mode), facts.st_mode & 07777, facts.st_gid,
                        name_in("/etc/group", facts.st_gid)});
  }
  return file;
}

/// A field of /proc/PID/status.
std::optional<std::uint32_t> status_number(pid_t process, std::string_view field) {
  std::ifstream lines(fmt::format("/proc/{}/status", process));
  std::string line;
  while (std::getline(lines, line)) {
    std::string_view rest = line;
    if (!consume_prefix(rest, field)) continue;
    rest = trim(rest);
    return parse_number<std::uint32_t>(rest.substr(0, rest.find('\t')));
  }
  return std::nullopt;
}

AgentProcess::Manager manager_of(std::optional<pid_t> agent) {
  using By = AgentProcess::Manager;
  std::string parent;
  if (agent) {
    const auto number = status_number(*agent, "PPid:");
    std::ifstream file(fmt::format("/proc/{}/comm", number.value_or(0)));
    std::getline(file, parent);
  }
  if (parent == "runsv") return By::kRunit;
  if (parent == "s6-supervise") return By::kS6;
  std::error_code error;
  return fs::exists("/run/systemd/system", error) ? By::kSystemd : By::kUnknown;
}

}  // namespace

Refusals look_at_rights(std::span<const std::string> paths, const std::string& socket) {
  Refusals refusals;
  for (const std::string& path : paths) refusals.files.push_back(way_to(path));
  const std::optional<pid_t> agent = process_at(socket);
  refusals.agent.manager = manager_of(agent);
  const auto user = agent ? status_number(*agent, "Uid:") : std::nullopt;
  const std::string name = user ? name_in("/etc/passwd", *user) : std::string();
  if (!name.empty()) refusals.agent.user = name;
  return refusals;
}

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
