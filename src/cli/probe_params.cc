#include "cli/probe_params.h"

#include <algorithm>
#include <expected>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "base/time.h"
#include "cli/command.h"
#include "observe/kinds.h"
#include "runtime/endpoint.h"

namespace wardmote::cli {
namespace {

using observe::ParamSpec;
using observe::ParamType;
using observe::ParamValue;

Result<ParamValue> checked_endpoint(std::string text) {
  const Result<runtime::Endpoint> endpoint = runtime::parse_endpoint(text);
  if (!endpoint) return std::unexpected(endpoint.error());
  return ParamValue(std::move(text));
}

template <class T>
Result<ParamValue> as_param(const Result<T>& value) {
  if (!value) return std::unexpected(value.error());
  return ParamValue(*value);
}

Result<ParamValue> param_value(const ParamSpec& spec, const Call& call, std::string_view name) {
  switch (spec.type) {
    case ParamType::kText: return ParamValue(call.value(name));
    case ParamType::kInteger: return as_param(call.integer(name, 0));
    case ParamType::kDuration: return as_param(call.duration(name, Duration::zero()));
    case ParamType::kFlag: return ParamValue(true);
    case ParamType::kEndpoint: return checked_endpoint(call.value(name));
    case ParamType::kList: return ParamValue(call.values(name));
  }
  return ParamValue(call.value(name));
}

}  // namespace

std::string cli_name(const observe::ProbeKind& kind, const ParamSpec& param) {
  if (&param == &kind.params.front()) return "TARGET";
  std::string name(param.name);
  std::ranges::replace(name, '_', '-');
  return name;
}

Result<observe::Params> probe_params(const observe::ProbeKind& kind, const Call& call) {
  observe::Params params;
  for (const ParamSpec& spec : kind.params) {
    const std::string name = cli_name(kind, spec);
    if (!call.has(name)) continue;
    Result<ParamValue> value = param_value(spec, call, name);
    if (!value) return with_context(value, "{}", name);
    params.emplace(spec.name, std::move(*value));
  }
  return params;
}

}  // namespace wardmote::cli
