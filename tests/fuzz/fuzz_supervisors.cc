// Status files of supervisors and what the kernel says of processes: no crash, bounded work, and a
// status that is accepted is printed with a state and an age that can be.
#include <chrono>

#include "codec/proc_stat.h"
#include "codec/runit.h"
#include "codec/s6.h"
#include "fuzz/fuzz_check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace wardmote;
  const std::string_view bytes = fuzz::text(data, size);
  const Result<codec::RunitStatus> runit = codec::parse_runit_status(bytes);
  if (bytes.size() >= codec::kRunitStatusSize) {
    const WallTime now = runit ? runit->changed : WallTime(std::chrono::hours(500'000));
    const std::string text = codec::sv_status_text(bytes, "bird", true, now);
    if (runit) {
      FUZZ_CHECK((runit->state == codec::RunitStatus::State::kRun) == text.starts_with("run: "));
      FUZZ_CHECK(text.contains(" 0s"));
    }
  }
  static_cast<void>(codec::parse_daemontools_status(bytes));
  const Result<codec::S6Status> s6 = codec::parse_s6_status(bytes);
  if (s6) FUZZ_CHECK(s6->pid <= INT32_MAX);
  const auto deaths = codec::parse_s6_death_tally(bytes);
  if (deaths) FUZZ_CHECK(deaths->size() == bytes.size() / 14);
  static_cast<void>(codec::parse_proc_stat(bytes));
  static_cast<void>(codec::parse_proc_rss(bytes));
  return 0;
}
