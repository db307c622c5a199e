#pragma once

#include <span>
#include <string_view>

#include "base/result.h"
#include "judge/bgp/policy.h"
#include "observe/kinds.h"

namespace wardmote::observe {

/// Reads the parameters that all kinds of BGP daemons share into a policy. kInvalid names the wrong
/// one.
Result<judge::bgp::Policy> read_bgp_policy(const Params& params);

/// The rows of those parameters, to append to the parameters of a kind.
std::span<const ParamSpec> bgp_policy_params() noexcept;

}  // namespace wardmote::observe
