#pragma once

#include <chrono>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.h"

namespace wardmote::config {

using namespace std::chrono_literals;
using observe::ParamSpec;
using observe::ParamType;
using observe::ProbeKind;

// Kinds of the tests' own, so that every type of parameter is covered whatever kinds there are.
inline constexpr ParamSpec kFakeParams[] = {
    {"target", ParamType::kEndpoint, true, "where"},
    {"text", ParamType::kText, false, "a text"},
    {"count", ParamType::kInteger, false, "a number"},
    {"limit", ParamType::kDuration, false, "a duration"},
    {"strict", ParamType::kFlag, false, "a flag"},
    {"names", ParamType::kList, false, "a list"},
};
inline constexpr ProbeKind kFakeKinds[] = {{"fake", "a fake", kFakeParams, nullptr},
                                           {"other", "another fake", {}, nullptr}};

inline std::expected<Config, std::vector<Problem>> parse(std::string_view yaml) {
  return parse_config(yaml, kFakeKinds);
}

/// What is wrong with `yaml`, one line each as the operator sees it, without the file's name.
inline std::vector<std::string> complaints(std::string_view yaml) {
  std::vector<std::string> lines;
  const auto config = parse(yaml);
  if (config) return lines;
  for (const Problem& problem : config.error()) lines.push_back(describe("f", problem).substr(2));
  return lines;
}

using Lines = std::vector<std::string>;

}  // namespace wardmote::config
