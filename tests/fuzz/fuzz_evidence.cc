// A recorded file of anybody's: no crash in reading nor in judging, and what is read is written
// the same way again.
#include <string>
#include <vector>

#include "base/text.h"
#include "fuzz/fuzz_check.h"
#include "judge/raft/assess.h"
#include "judge/raft/memory.h"
#include "store/evidence.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace wardmote;
  std::string_view text = fuzz::text(data, size);
  store::EvidenceReader reader;
  const auto head = reader.head(take_until(text, '\n'));
  if (!head) return 0;
  judge::raft::Memory memory;
  while (!text.empty()) {
    const auto look = reader.look(take_until(text, '\n'));
    if (!look) return 0;
    const std::string written = store::encode(*look);
    const auto again = store::EvidenceReader().look(written);
    FUZZ_CHECK(again && store::encode(*again) == written);
    const auto assessment =
        judge::raft::assess(look->opinions, head->expectation, memory, look->judged);
    FUZZ_CHECK(assessment.members.size() == look->opinions.size());
  }
  return 0;
}
