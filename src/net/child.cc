#include "net/child.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <expected>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/text.h"
#include "net/core.h"
#include "net/subreaper.h"
#include "net/system_error.h"
#include "net/unique_fd.h"
#include "runtime/process.h"

namespace wardmote::net {
namespace {

namespace fs = std::filesystem;

/// Of `NAME=VALUE`.
std::string_view name_of(std::string_view variable) {
  return variable.substr(0, variable.find('='));
}

/// The settings of posix_spawn, freed with this object.
class SpawnOrders {
 public:
  SpawnOrders(int in, int out, int err) {
    ::posix_spawn_file_actions_init(&files_);
    ::posix_spawn_file_actions_adddup2(&files_, in, STDIN_FILENO);
    ::posix_spawn_file_actions_adddup2(&files_, out, STDOUT_FILENO);
    ::posix_spawn_file_actions_adddup2(&files_, err, STDERR_FILENO);
    // Our own descriptors are close-on-exec; those of a library may not be.
    ::posix_spawn_file_actions_addclosefrom_np(&files_, STDERR_FILENO + 1);
    ::posix_spawnattr_init(&attributes_);
    ::posix_spawnattr_setflags(
        &attributes_, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    ::posix_spawnattr_setpgroup(&attributes_, 0);
    sigset_t signals;
    ::sigfillset(&signals);
    ::posix_spawnattr_setsigdefault(&attributes_, &signals);
    ::sigemptyset(&signals);
    ::posix_spawnattr_setsigmask(&attributes_, &signals);
  }
  SpawnOrders(const SpawnOrders&) = delete;
  SpawnOrders& operator=(const SpawnOrders&) = delete;
  ~SpawnOrders() {
    ::posix_spawn_file_actions_destroy(&files_);
    ::posix_spawnattr_destroy(&attributes_);
  }

  /// An errno value, or 0.
  int spawn(pid_t* pid, const std::vector<std::string>& argv,
            const std::vector<std::string>& changes) const {
    std::vector<char*> arguments;
    arguments.reserve(argv.size() + 1);
    for (const std::string& argument : argv)
      arguments.push_back(const_cast<char*>(argument.c_str()));
    arguments.push_back(nullptr);
    std::vector<char*> environment;
    for (char** one = environ; *one != nullptr; ++one) {
      const auto changes_it = [one](const std::string& change) {
        return name_of(change) == name_of(*one);
      };
      if (std::ranges::none_of(changes, changes_it)) environment.push_back(*one);
    }
    for (const std::string& change : changes) {
      if (change.contains('=')) environment.push_back(const_cast<char*>(change.c_str()));
    }
    environment.push_back(nullptr);
    return ::posix_spawnp(pid, arguments.front(), &files_, &attributes_, arguments.data(),
                          environment.data());
  }

 private:
  posix_spawn_file_actions_t files_;
  posix_spawnattr_t attributes_;
};

struct Pipe {
  UniqueFd ours;
  UniqueFd theirs;
};

Result<Pipe> open_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return fail_errno(errno, "open a pipe");
  return Pipe{UniqueFd(ends[0]), UniqueFd(ends[1])};
}

/// `input` as a file in memory, so that no pipe has to be filled that the program may never read.
Result<UniqueFd> open_input(std::string_view input) {
  UniqueFd file(input.empty() ? ::open("/dev/null", O_RDONLY | O_CLOEXEC)
                              : ::memfd_create("stdin", MFD_CLOEXEC));
  if (!file) return fail_errno(errno, "open standard input");
  while (!input.empty()) {
    const ssize_t written = ::write(file.get(), input.data(), input.size());
    if (written < 0) return fail_errno(errno, "fill standard input");
    input.remove_prefix(static_cast<std::size_t>(written));
  }
  if (::lseek(file.get(), 0, SEEK_SET) < 0 && errno != ESPIPE)
    return fail_errno(errno, "rewind standard input");
  return file;
}

Result<void> watch(Descriptor& descriptor, UniqueFd fd) {
  boost::system::error_code error;
  descriptor.assign(fd.get(), error);
  if (error) return fail_errno(error.value(), "watch a process");
  (void)fd.release();
  return {};
}

std::string name_of(const std::string& process) {
  std::string name;
  std::getline(std::ifstream("/proc/" + process + "/comm"), name);
  return name;
}

/// Each process of the group. One that is forked meanwhile is found in a later round.
void kill_all_but(pid_t group, const std::string& spared) {
  constexpr int kRounds = 32;
  std::set<pid_t> killed;
  for (int round = 0; round < kRounds; ++round) {
    bool found = false;
    std::error_code error;
    for (fs::directory_iterator process("/proc", error), end; !error && process != end;
         process.increment(error)) {
      const std::string number = process->path().filename();
      const auto pid = parse_number<pid_t>(number);
      if (!pid || ::getpgid(*pid) != group || name_of(number) == spared) continue;
      if (::kill(*pid, SIGKILL) == 0) found = killed.insert(*pid).second || found;
    }
    if (!found) return;
  }
}

}  // namespace

Result<std::shared_ptr<Child>> Child::start(Core& core, std::shared_ptr<Subreaper> subreaper,
                                            const runtime::ProcessSpec& spec) {
  if (spec.argv.empty() || spec.argv.front().empty())
    return fail(Errc::kInvalid, "run: no program");
  const std::string& program = spec.argv.front();
  Result<UniqueFd> in = open_input(spec.standard_input);
  if (!in) return with_context(in, "run {}", program);
  Result<Pipe> out = open_pipe();
  if (!out) return with_context(out, "run {}", program);
  Result<Pipe> err = open_pipe();
  if (!err) return with_context(err, "run {}", program);

  auto child = std::make_shared<Child>(core, std::move(subreaper));
  Result<void> watched = watch(child->out, std::move(out->ours));
  if (watched) watched = watch(child->err, std::move(err->ours));
  if (!watched) return with_context(watched, "run {}", program);

  const Result<void> spawned =
      child->spawn(spec, {in->get(), out->theirs.get(), err->theirs.get()});
  if (!spawned) return std::unexpected(spawned.error());
  // Not glibc's wrapper, because glibc 2.36 declares it without C linkage.
  UniqueFd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, child->pid_, 0)));
  watched = pidfd ? watch(child->exited, std::move(pidfd)) : fail_errno(errno, "watch a process");
  if (!watched) {
    // Without a pidfd the end of the process would go unnoticed, so it is killed here; after
    // SIGKILL it ends at once.
    child->kill_group();
    siginfo_t ignored{};
    ::waitid(P_PID, static_cast<id_t>(child->pid_), &ignored, WEXITED);
    child->subreaper_->end(child->run_, std::exchange(child->pid_, 0));
    return with_context(watched, "run {}", program);
  }
  return child;
}

Result<void> Child::spawn(const runtime::ProcessSpec& spec, StandardFiles files) {
  spares_ = spec.spares;
  run_ = subreaper_->begin(spec.ends_family);
  const SpawnOrders orders(files.in, files.out, files.err);
  std::vector<std::string> changes = spec.environment;
  changes.push_back(Subreaper::marker(run_));
  const int failed = orders.spawn(&pid_, spec.argv, changes);
  if (failed != 0) {
    pid_ = 0;
    subreaper_->end(run_, 0);
    return fail_errno(failed, "run {}", spec.argv.front());
  }
  subreaper_->lead(pid_);
  return {};
}

void Child::kill_group() {
  if (pid_ <= 0) return;
  if (spares_.empty()) {
    ::kill(-pid_, SIGKILL);
  } else {
    kill_all_but(pid_, spares_);
  }
}

bool Child::ended_well() const {
  siginfo_t end{};
  return pid_ > 0 &&
         ::waitid(P_PID, static_cast<id_t>(pid_), &end, WEXITED | WNOHANG | WNOWAIT) == 0 &&
         end.si_pid == pid_ && end.si_code == CLD_EXITED && end.si_status == 0;
}

std::optional<int> Child::reap() {
  if (pid_ == 0) return std::nullopt;
  siginfo_t end{};
  if (::waitid(P_PID, static_cast<id_t>(pid_), &end, WEXITED | WNOHANG) != 0 || end.si_pid != pid_)
    return std::nullopt;
  subreaper_->end(run_, std::exchange(pid_, 0));
  return end.si_code == CLD_EXITED ? end.si_status : 128 + end.si_status;
}

void Child::abandon(const std::shared_ptr<Child>& child) {
  if (child->pid_ == 0) return;
  if (!child->spares_.empty() && child->subreaper_->lets_go()) return;
  child->kill_group();
  if (child->reap()) return;
  child->exited.async_wait(Descriptor::wait_read,
                           [child](const boost::system::error_code&) { child->reap(); });
}

}  // namespace wardmote::net
