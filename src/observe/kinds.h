#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "observe/probe.h"
#include "runtime/runtime.h"

namespace wardmote::observe {

/// The type of a probe's parameter; the configuration and the command line read the parameter by
/// this type.
enum class ParamType : std::uint8_t { kText, kInteger, kDuration, kFlag, kEndpoint, kList };

/// One parameter of a kind. The first parameter of a kind is the TARGET on the command line.
struct ParamSpec {
  std::string_view name;
  ParamType type;
  bool required;
  std::string_view help;
};

/// kText and kEndpoint hold a string (an endpoint has been checked), kList several.
using ParamValue =
    std::variant<std::string, std::int64_t, Duration, bool, std::vector<std::string>>;
/// The parameters by name; contains every required parameter, each with the type of its spec.
using Params = std::map<std::string, ParamValue, std::less<>>;

/// One row for each kind of probe; `probe --help`, the configuration, metrics and docs come from
/// this table.
struct ProbeKind {
  std::string_view name;
  std::string_view summary;
  std::span<const ParamSpec> params;
  /// kInvalid when the parameters contradict each other. `runtime` outlives the probe.
  Result<std::unique_ptr<Probe>> (*make)(runtime::Runtime& runtime, std::string subject,
                                         const Params& params);
  /// False: what it finds says nothing of this node, so nobody waits for it unless he says so.
  bool of_node = true;
};

std::span<const ProbeKind> probe_kinds() noexcept;
/// Null when there is no such kind.
const ProbeKind* find_kind(std::string_view name) noexcept;

}  // namespace wardmote::observe
