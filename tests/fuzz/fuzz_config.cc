#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "codec/yaml_text.h"
#include "config/config.h"
#include "config/effective.h"
#include "config/layout.h"
#include "config/yaml.h"

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

using namespace wardmote::config;

/// What `config show --effective` prints is read as the same configuration.
void check_effective(const std::string& bytes, Config config) {
  Problems problems;
  const YamlDocument document = parse_yaml(bytes, {}, problems);
  const std::string shown = wardmote::codec::yaml_text(effective(document.root, config));
  if (shown.find("(hidden)") != std::string::npos) return;
  auto again = parse_config(shown, kKinds);
  fuzz_check(again.has_value());
  for (Config* const one : {&config, &*again}) {
    for (Check& check : one->checks) check.at = {};
  }
  fuzz_check(config.node == again->node && config.api == again->api);
  fuzz_check(config.clusters == again->clusters && config.checks == again->checks);
  fuzz_check(config.gates == again->gates);
}

/// What is laid out says the same, and laying it out again changes nothing.
void check_layout(const std::string& bytes) {
  const auto laid_out = lay_out(bytes);
  if (!laid_out) return;
  const auto again = lay_out(*laid_out);
  fuzz_check(again && *again == *laid_out);
}

}  // namespace

/// Any bytes give a configuration or problems that are safe to print; never a crash, never both.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(data, data + size);
  check_layout(bytes);
  const auto config = parse_config(bytes, kKinds);
  if (config) {
    fuzz_check(!config->clusters.empty() || !config->checks.empty());
    fuzz_check(!config->gates.empty());
    for (const Check& check : config->checks) {
      fuzz_check(check.kind != nullptr && check.params.contains("target"));
      fuzz_check(check.schedule.timeout <= check.schedule.every);
    }
    check_effective(bytes, *config);
    return 0;
  }
  fuzz_check(!config.error().empty());
  for (const Problem& problem : config.error()) {
    for (const char c : describe("f", problem)) fuzz_check(static_cast<unsigned char>(c) >= 0x20);
  }
  return 0;
}
