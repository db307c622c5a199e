#include "cli/ocf/host.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/statvfs.h>
#include <sys/types.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <ios>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "act/failover/replica.h"
#include "base/format.h"
#include "base/result.h"
#include "base/time.h"
#include "cli/ocf/parameters.h"
#include "codec/json_rpc.h"
#include "codec/ovsdb_log.h"
#include "codec/proc_stat.h"
#include "net/system_error.h"
#include "net/unique_fd.h"

namespace wardmote::cli::ocf {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kServer = "ovsdb-server";
constexpr std::string_view kAside = ".before-sync.";
constexpr std::size_t kCopiesKept = 3;
constexpr std::uint64_t kLittle = std::uint64_t{1} << 20;
constexpr std::uint64_t kSpare = std::uint64_t{16} << 20;
constexpr std::streamoff kTail = std::streamoff{1} << 20;

std::optional<codec::ProcStat> stat_of(std::uint32_t pid) {
  std::ifstream file(fmt::format("/proc/{}/stat", pid), std::ios::binary);
  std::string text(codec::kLargestProcStat, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  const Result<codec::ProcStat> stat = codec::parse_proc_stat(text);
  return stat ? std::optional(*stat) : std::nullopt;
}

std::string active_conf(const Parameters& parameters, const std::string& database) {
  const std::string_view name = database == "OVN_Southbound" ? "ovnsb" : "ovnnb";
  return fmt::format("{}/{}-active.conf", parameters.etc_dir, name);
}

std::error_code sync_to_disk(const fs::path& path) {
  const net::UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file && ::fsync(file.get()) == 0) return {};
  return {errno, std::system_category()};
}

/// All but the newest, which is the one just made, whatever its clock says.
void forget_old_copies(const fs::path& database, const fs::path& made) {
  std::error_code error;
  std::vector<fs::path> copies;
  const std::string prefix = database.filename().string() + std::string(kAside);
  for (fs::directory_iterator one(database.parent_path(), error), end; !error && one != end;
       one.increment(error)) {
    const std::string name = one->path().filename().string();
    if (name.starts_with(prefix) && name != made.filename()) copies.push_back(one->path());
  }
  std::ranges::sort(copies);
  for (std::size_t i = 0; i + kCopiesKept <= copies.size(); ++i) fs::remove(copies[i], error);
}

}  // namespace

void kill_server(const act::failover::ProcessId& server) {
  const std::optional<codec::ProcStat> stat = stat_of(server.pid);
  if (!stat || stat->name != kServer || stat->started != server.started) return;
  const std::optional<codec::ProcStat> parent = stat_of(stat->parent);
  const bool watched = parent && parent->name == kServer;
  if (watched) ::kill(static_cast<pid_t>(parent->pid), SIGKILL);
  ::kill(static_cast<pid_t>(server.pid), SIGKILL);
}

bool runs(const std::string& pid_file, const std::string& name) {
  std::ifstream file(pid_file);
  std::uint32_t pid = 0;
  if (!(file >> pid)) return false;
  const std::optional<codec::ProcStat> stat = stat_of(pid);
  return stat && stat->name == name && stat->state != 'Z' && stat->state != 'X';
}

std::optional<WallTime> changed_at(const std::string& database) {
  std::ifstream file(database, std::ios::binary | std::ios::ate);
  const std::streamoff size = file.tellg();
  if (size <= 0) return std::nullopt;
  const std::streamoff length = std::min(size, kTail);
  file.seekg(size - length);
  std::string tail(static_cast<std::size_t>(length), '\0');
  file.read(tail.data(), length);
  tail.resize(static_cast<std::size_t>(file.gcount()));
  return codec::last_change(tail);
}

Result<void> enough_room(const std::string& database, int copies) {
  std::error_code error;
  const std::uintmax_t size = fs::file_size(database, error);
  if (error) return net::fail_errno(error.value(), "size of {}", database);
  struct statvfs disk{};
  if (::statvfs(database.c_str(), &disk) != 0)
    return net::fail_errno(errno, "free space of {}", database);
  const std::uint64_t free = std::uint64_t{disk.f_bavail} * disk.f_frsize;
  if (free >= size * static_cast<unsigned>(copies) + kSpare) return {};
  return fail(Errc::kExhausted, "{} bytes are free beside {}, which has {}", free, database, size);
}

std::string short_of_room(const std::string& database) {
  struct statvfs disk{};
  if (::statvfs(database.c_str(), &disk) != 0) return {};
  const std::uint64_t free = std::uint64_t{disk.f_bavail} * disk.f_frsize;
  return free >= kLittle ? "" : fmt::format("{} bytes are free for {}", free, database);
}

Result<std::string> copy_aside(const std::string& database, WallTime now) {
  std::string stamp = format_utc(now);
  std::erase(stamp, ':');
  std::string copy = fmt::format("{}{}{}", database, kAside, stamp);
  std::error_code error;
  fs::copy_file(database, copy, error);
  if (error == std::errc::file_exists) return net::fail_errno(error.value(), "write {}", copy);
  if (!error) error = sync_to_disk(copy);
  if (!error) error = sync_to_disk(fs::path(copy).parent_path());
  if (error) {
    std::error_code ignored;
    fs::remove(copy, ignored);
    return net::fail_errno(error.value(), "copy {} aside", database);
  }
  forget_old_copies(database, copy);
  return copy;
}

void write_active_conf(const Parameters& parameters, const std::string& database,
                       const std::string& source) {
  std::ofstream(active_conf(parameters, database)) << source << '\n';
}

void remove_active_conf(const Parameters& parameters, const std::string& database) {
  std::error_code ignored;
  fs::remove(active_conf(parameters, database), ignored);
}

void report(const Parameters& parameters, bool live, bool ready, const std::string& detail) {
  sockaddr_un to{};
  to.sun_family = AF_UNIX;
  const std::string& path = parameters.report_socket;
  if (path.empty() || path.size() >= sizeof(to.sun_path)) return;
  path.copy(to.sun_path, sizeof(to.sun_path) - 1);
  const net::UniqueFd socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket) return;
  const std::string text = fmt::format(R"({{"live":{},"ready":{},"detail":{}}})", live, ready,
                                       codec::json_string(detail));
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): the socket API
  const auto* const address = reinterpret_cast<const sockaddr*>(&to);
  static_cast<void>(
      ::sendto(socket.get(), text.data(), text.size(), MSG_NOSIGNAL, address, sizeof(to)));
}

}  // namespace wardmote::cli::ocf
