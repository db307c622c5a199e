#include "judge/guest/activity.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>

#include "base/format.h"
#include "base/time.h"
#include "judge/guest/facts.h"

namespace wardmote::judge::guest {
namespace {

/// A window of those who are pinged most often.
constexpr std::size_t kMostSamples = 256;

struct Change {
  std::optional<double> cpu_share;
  std::optional<std::uint64_t> requests;
  std::optional<std::uint64_t> packets;
};

/// From the first time that it was counted to the last; not every time is, as a QEMU that does not
/// run is not asked. Nothing when it was counted once, or ran backwards since the guest began anew.
std::optional<std::uint64_t> grown(const std::deque<Counters>& samples,
                                   std::optional<std::uint64_t> Counters::* counter) {
  const Counters* first = nullptr;
  const Counters* last = nullptr;
  for (const Counters& sample : samples) {
    if (!(sample.*counter)) continue;
    if (first == nullptr) first = &sample;
    last = &sample;
  }
  if (first == last || *(last->*counter) < *(first->*counter)) return std::nullopt;
  return *(last->*counter) - *(first->*counter);
}

Change change(const std::deque<Counters>& samples) {
  const Counters& from = samples.front();
  const Counters& to = samples.back();
  Change made;
  const double seconds = std::chrono::duration<double>(to.at - from.at).count();
  if (from.cpu && to.cpu && *to.cpu >= *from.cpu && seconds > 0)
    made.cpu_share = std::chrono::duration<double>(*to.cpu - *from.cpu).count() / seconds;
  made.requests = grown(samples, &Counters::disk_requests);
  made.packets = grown(samples, &Counters::sent_packets);
  return made;
}

std::string counted(const std::optional<std::uint64_t>& number, const char* none, const char* one) {
  if (!number) return fmt::format("{}s not counted", one);
  if (*number == 0) return none;
  return fmt::format("{} {}{}", *number, one, *number == 1 ? "" : "s");
}

}  // namespace

void ActivityWatch::add(const Counters& counters) {
  if (!samples_.empty() && counters.at <= samples_.back().at) return;
  samples_.push_back(counters);
  while (samples_.size() > kMostSamples ||
         (samples_.size() > 2 && samples_[1].at + kWindow <= counters.at))
    samples_.pop_front();
}

Duration ActivityWatch::span() const noexcept {
  return samples_.empty() ? Duration::zero() : samples_.back().at - samples_.front().at;
}

Activity ActivityWatch::activity() const noexcept {
  if (span() < kShortest) return Activity::kUnknown;
  const Change seen = change(samples_);
  if (seen.requests.value_or(0) > 0 || seen.packets.value_or(0) > 0) return Activity::kBusy;
  if (!seen.cpu_share) return Activity::kUnknown;
  if (*seen.cpu_share >= kSpinningShare) return Activity::kSpinning;
  if (*seen.cpu_share == 0) return span() >= kFrozenAfter ? Activity::kFrozen : Activity::kIdle;
  return Activity::kIdle;
}

std::string ActivityWatch::text() const {
  if (span() < kShortest) return {};
  const Change seen = change(samples_);
  const std::string cpu = seen.cpu_share ? fmt::format("{:.1f} % of a CPU", *seen.cpu_share * 100)
                                         : std::string("CPU time not counted");
  return fmt::format("{}, {}, {} in {}", cpu,
                     counted(seen.requests, "no disk request", "disk request"),
                     counted(seen.packets, "no packet sent", "packet"), format_duration(span()));
}

}  // namespace wardmote::judge::guest
