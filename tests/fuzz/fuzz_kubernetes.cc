#include <cstddef>
#include <cstdint>

#include "codec/kubernetes.h"
#include "fuzz/fuzz_check.h"

using wardmote::codec::KubernetesEvent;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto text = wardmote::fuzz::text(data, size);
  const auto state = wardmote::codec::parse_kubernetes_event(text);
  if (state) {
    FUZZ_CHECK(state->count >= 0);
    FUZZ_CHECK(!wardmote::codec::format_kubernetes_repeat(KubernetesEvent(), *state).empty());
  }
  FUZZ_CHECK(wardmote::codec::kubernetes_message(text).size() <= size);
  FUZZ_CHECK(!wardmote::codec::is_kubernetes_name(text) || size <= 253);
  return 0;
}
