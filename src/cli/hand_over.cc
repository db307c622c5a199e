#include "cli/hand_over.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>

#include "base/format.h"
#include "cli/output.h"

namespace wardmote::cli {
namespace {

// The exit codes of a shell that cannot run a command.
constexpr int kCannotRun = 126;
constexpr int kNotThere = 127;

/// Otherwise it would start itself for ever.
bool is_this_program(const std::string& path) {
  struct stat there{};
  struct stat here{};
  return ::stat(path.c_str(), &there) == 0 && ::stat("/proc/self/exe", &here) == 0 &&
         there.st_dev == here.st_dev && there.st_ino == here.st_ino;
}

}  // namespace

int hand_over(const std::string& path, char* const* argv) {
  const bool itself = is_this_program(path);
  if (!itself) ::execv(path.c_str(), argv);
  const int number = errno;
  const std::string why =
      itself ? "that is wardmote itself" : std::generic_category().message(number);
  print_error(
      fmt::format("{}: wardmote does only its health checks, and cannot run {} for everything "
                  "else: {}. Set WARDMOTE_CALICO_NODE to the real program\n",
                  argv[0], path, why));
  return !itself && number == ENOENT ? kNotThere : kCannotRun;
}

}  // namespace wardmote::cli
