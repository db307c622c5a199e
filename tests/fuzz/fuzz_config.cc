#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "agent/config/config.h"

namespace {

using wardmote::observe::ParamSpec;
using wardmote::observe::ParamType;

// Every type of parameter, whatever kinds there are.
constexpr ParamSpec kParams[] = {
    {"target", ParamType::kEndpoint, true, ""}, {"text", ParamType::kText, false, ""},
    {"count", ParamType::kInteger, false, ""},  {"limit", ParamType::kDuration, false, ""},
    {"strict", ParamType::kFlag, false, ""},    {"names", ParamType::kList, false, ""},
};
constexpr wardmote::observe::ProbeKind kKinds[] = {{"fake", "", kParams, nullptr}};

void fuzz_check(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

/// Any bytes give a configuration or problems that are safe to print; never a crash, never both.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace wardmote::agent::config;
  const std::string bytes(data, data + size);
  const auto config = parse_config(bytes, kKinds);
  if (config) {
    fuzz_check(!config->clusters.empty() || !config->checks.empty());
    fuzz_check(!config->gates.empty());
    for (const Check& check : config->checks) {
      fuzz_check(check.kind != nullptr && check.params.contains("target"));
      fuzz_check(check.schedule.timeout <= check.schedule.every);
    }
    return 0;
  }
  fuzz_check(!config.error().empty());
  for (const Problem& problem : config.error()) {
    for (const char c : describe("f", problem)) fuzz_check(static_cast<unsigned char>(c) >= 0x20);
  }
  return 0;
}
