#pragma once

#include <cstdint>

namespace wardmote::cli::ocf {

/// The exit codes of an OCF resource agent (OCF Resource Agent API 1.1, 3.1); the last two are
/// Pacemaker's.
enum class Code : std::uint8_t {
  kSuccess = 0,
  kGeneric = 1,
  kArguments = 2,
  kUnimplemented = 3,
  kPermission = 4,
  kInstalled = 5,   ///< something is missing on this node
  kConfigured = 6,  ///< the parameters are wrong on every node
  kNotRunning = 7,
  kPromoted = 8,
  kFailedPromoted = 9,
  kDegraded = 190,
  kDegradedPromoted = 191,
};

}  // namespace wardmote::cli::ocf
