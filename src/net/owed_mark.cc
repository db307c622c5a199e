#include "net/owed_mark.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "base/log.h"
#include "base/result.h"
#include "net/system_error.h"
#include "net/unique_fd.h"

namespace wardmote::net {

namespace {

std::string name(const std::string& folder, bool owed) {
  return folder + (owed ? "/wardmote.owed" : "/wardmote.kept");
}

}  // namespace

Result<OwedMark> OwedMark::open(const std::string& folder) {
  const bool was_set = ::access(name(folder, true).c_str(), F_OK) == 0;
  if (was_set) return OwedMark(folder, true, true);
  const std::string kept = name(folder, false);
  const bool was_there = ::access(kept.c_str(), F_OK) == 0;
  const UniqueFd file(::open(kept.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file) return fail_errno(errno, "open {}", kept);
  return OwedMark(folder, false, was_there);
}

Result<void> OwedMark::set(bool owed) {
  const std::string from = name(folder_, !owed);
  const std::string to = name(folder_, owed);
  if (std::rename(from.c_str(), to.c_str()) == 0) return {};
  const int error = errno;
  if (error == ENOENT && ::access(to.c_str(), F_OK) == 0) return {};
  return fail_errno(error, "rename {}", from);
}

MarkWriter::MarkWriter(OwedMark mark) : mark_(std::move(mark)), thread_([this] { work(); }) {}

MarkWriter::~MarkWriter() {
  {
    const std::scoped_lock lock(mutex_);
    over_ = true;
  }
  changed_.notify_one();
}

void MarkWriter::set(bool owed) {
  {
    const std::scoped_lock lock(mutex_);
    wanted_ = owed;
  }
  changed_.notify_one();
}

void MarkWriter::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return over_ || wanted_; });
    if (!wanted_) return;
    const bool owed = *std::exchange(wanted_, std::nullopt);
    lock.unlock();
    if (const auto set = mark_.set(owed); !set)
      log(LogLevel::kError, "doubt_not_marked", {{"reason", set.error().describe()}});
    lock.lock();
  }
}

}  // namespace wardmote::net
