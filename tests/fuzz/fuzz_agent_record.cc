// What other agents, of whatever release, say of themselves: no crash, bounded, and safe to print.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/time.h"
#include "fuzz/fuzz_check.h"
#include "store/agent_record.h"
#include "store/clock_pair.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace wardmote;
  const std::string_view input = fuzz::text(data, size);
  const store::ClockPair clock{TimePoint(std::chrono::hours(10)),
                               WallTime(std::chrono::hours(480'000))};
  static_cast<void>(store::parse_agent_key(input));
  static_cast<void>(store::decode_registration(input));
  const auto word = store::decode_word(input, clock);
  if (!word) return 0;
  for (const auto& symptom : word->symptoms) {
    FUZZ_CHECK(symptom.since <= clock.now);
    FUZZ_CHECK(symptom.summary.find('\n') == std::string_view::npos);
  }
  // What was read can be written, and read again.
  const auto again = store::decode_word(store::encode(*word, clock), clock);
  FUZZ_CHECK(again && again->symptoms.size() == word->symptoms.size());
  FUZZ_CHECK(again->history == word->history);
  return 0;
}
