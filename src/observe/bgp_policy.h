#pragma once

#include <span>
#include <string_view>

#include "base/result.h"
#include "judge/bgp/policy.h"
#include "observe/kinds.h"

namespace wardmote::observe {

/// The parameters that the kinds of BGP daemons share, as their policy. kInvalid names the one that
/// is wrong.
Result<judge::bgp::Policy> read_bgp_policy(const Params& params);

/// The rows of those parameters, to go behind the ones of a kind.
std::span<const ParamSpec> bgp_policy_params() noexcept;

}  // namespace wardmote::observe
