// Records of Metropolis, which lie in etcd for whoever may write there: no crash, bounded work, and
// what was read is written so that it reads the same.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "codec/metropolis.h"
#include "fuzz/fuzz_check.h"

namespace {

using namespace wardmote::codec::metropolis;

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view record = wardmote::fuzz::text(data, size);
  const auto status = decode_status(record);
  if (status) {
    FUZZ_CHECK(decode_status(encode(*status)) == status);
    if (status->version) FUZZ_CHECK(semver(*status->version).size() < 128);
  }
  const auto node = decode_node(record);
  if (node) FUZZ_CHECK(decode_node(encode(*node)) == node);
  return 0;
}
