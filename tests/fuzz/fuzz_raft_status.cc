// cluster/status: no crash, bounded work, and what is printed back reads the same.
#include "codec/raft_status.h"
#include "fuzz/fuzz_check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace wardmote;
  Result<codec::RaftStatus> status = codec::parse_raft_status(fuzz::text(data, size));
  if (!status) return 0;
  status->unknown_count = 0;  // lines over the cap are counted, but not there to be printed
  const std::string printed = codec::format(*status);
  Result<codec::RaftStatus> again = codec::parse_raft_status(printed);
  FUZZ_CHECK(again.has_value());
  again->unknown_count = 0;
  FUZZ_CHECK(*again == *status);
  FUZZ_CHECK(codec::format(*again) == printed);
  return 0;
}
