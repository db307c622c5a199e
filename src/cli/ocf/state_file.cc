#include "cli/ocf/state_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <ios>
#include <optional>
#include <string>
#include <string_view>

#include "act/failover/replica.h"
#include "base/format.h"
#include "base/result.h"
#include "base/text.h"
#include "base/time.h"
#include "cli/ocf/parameters.h"
#include "judge/failover/candidate.h"
#include "net/system_error.h"
#include "net/unique_fd.h"

namespace wardmote::cli::ocf {
namespace {

using act::failover::ProcessId;

constexpr std::size_t kLargest = 8192;
constexpr std::size_t kLongestReason = 512;

std::string path_of(const Parameters& parameters) {
  return fmt::format("{}/wardmote-{}.state", parameters.data_dir, parameters.instance);
}

std::string spelled(const std::optional<ProcessId>& process) {
  if (!process) return {};
  return fmt::format("{} {}", process->pid, process->started.time_since_epoch().count());
}

std::optional<ProcessId> read_process(std::string_view text) {
  const auto pid = parse_number<std::uint32_t>(take_until(text, ' '));
  const auto started = parse_number<std::int64_t>(text);
  if (!pid || !started) return std::nullopt;
  return ProcessId{*pid, TimePoint(Duration(*started))};
}

}  // namespace

std::string format(const State& state) {
  return fmt::format(
      "promoted-nb {}\npromoted-sb {}\nepoch {}\nsync {}\ndiverged {}\nmatched {}\nyielded "
      "{}\nunannounced {}\nquarantine {}\ntold {}\n"
      "told-at {}\n",
      spelled(state.promoted_nb), spelled(state.promoted_sb), state.epoch, to_string(state.sync),
      state.diverged ? "yes" : "no", state.matched ? "yes" : "no", state.yielded ? "yes" : "no",
      state.unannounced ? "yes" : "no",
      escape_control(std::string_view(state.quarantine).substr(0, kLongestReason)), state.told,
      state.told_at);
}

State parse_state(std::string_view text) {
  State state;
  while (!text.empty()) {
    std::string_view line = take_until(text, '\n');
    const std::string_view key = take_until(line, ' ');
    if (key == "promoted-nb") state.promoted_nb = read_process(line);
    if (key == "promoted-sb") state.promoted_sb = read_process(line);
    if (key == "epoch") state.epoch = parse_number<std::uint64_t>(line).value_or(0);
    if (key == "sync") state.sync = judge::failover::parse_sync_state(line);
    if (key == "diverged") state.diverged = line == "yes";
    if (key == "matched") state.matched = line == "yes";
    if (key == "yielded") state.yielded = line == "yes";
    if (key == "unannounced") state.unannounced = line == "yes";
    if (key == "quarantine") state.quarantine = line;
    if (key == "told") state.told = line;
    if (key == "told-at") state.told_at = parse_number<std::int64_t>(line).value_or(0);
  }
  return state;
}

State load_state(const Parameters& parameters) {
  std::ifstream file(path_of(parameters), std::ios::binary);
  std::string text(kLargest, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  return parse_state(text);
}

Result<void> save_state(const Parameters& parameters, const State& state) {
  const std::string path = path_of(parameters);
  const std::string fresh = path + ".new";
  const std::string text = format(state);
  const net::UniqueFd file(
      ::open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file) return net::fail_errno(errno, "write {}", fresh);
  const ssize_t written = ::write(file.get(), text.data(), text.size());
  if (written != static_cast<ssize_t>(text.size()))
    return net::fail_errno(written < 0 ? errno : ENOSPC, "write {}", fresh);
  if (::fsync(file.get()) != 0) return net::fail_errno(errno, "write {}", fresh);
  if (std::rename(fresh.c_str(), path.c_str()) != 0)
    return net::fail_errno(errno, "replace {}", path);
  return {};
}

}  // namespace wardmote::cli::ocf
