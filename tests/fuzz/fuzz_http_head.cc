// Heads of HTTP responses: no crash, bounded memory, the same in one piece and byte by byte.
#include <algorithm>

#include "codec/http_head.h"
#include "fuzz/fuzz_check.h"

namespace {

using namespace wardmote;

struct Ending {
  bool failed = false;
  bool whole = false;
  int status = 0;
  std::string location;
  friend bool operator==(const Ending&, const Ending&) = default;
};

Ending read(std::string_view bytes, std::size_t step) {
  codec::HttpHeadReader reader({.bytes = 4096, .fields = 20, .interim = 3});
  while (!bytes.empty()) {
    const std::size_t size = std::min(step, bytes.size());
    const Result<bool> whole = reader.feed(bytes.substr(0, size));
    if (!whole) return {.failed = true, .whole = false, .status = 0, .location = {}};
    if (*whole) return {false, true, reader.head().status, reader.head().location};
    bytes.remove_prefix(size);
  }
  return {};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input = fuzz::text(data, size);
  const Ending at_once = read(input, 4096);
  FUZZ_CHECK(at_once == read(input, 1));
  FUZZ_CHECK(!at_once.whole || (at_once.status >= 1 && at_once.status <= 999));
  return 0;
}
