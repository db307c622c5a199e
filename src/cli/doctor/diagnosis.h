#pragma once

#include <boost/json/value.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/exit_code.h"
#include "cli/render/style.h"
#include "judge/outcome.h"

namespace wardmote::cli {

/// One thing that was looked at, and what to do about it.
struct Diagnosis {
  std::string what;  ///< `agent`, `configuration`, `clock`
  judge::Outcome outcome = judge::Outcome::kUnknown;
  std::string says;
  std::string advice = {};  ///< empty when nothing is to be done
};

/// What can be told of this machine and its agent without the agent.
struct Surroundings {
  std::optional<bool> clock_synchronised;          ///< by the kernel; nothing when it does not say
  std::optional<std::uint64_t> agent_descriptors;  ///< that the agent has open
  std::optional<std::uint64_t> agent_limit;        ///< that it may have open
  std::optional<std::uint32_t> socket_mode;        ///< permission bits of its unix socket
  std::optional<double>
      cpu_pressure;  ///< per cent of the last ten seconds in which some task waited
};

/// Judges the machine. Pure.
std::vector<Diagnosis> diagnose(const Surroundings& around);

/// Judges the agent by /api/v1/status. Pure.
std::vector<Diagnosis> diagnose_status(const boost::json::value& status,
                                       std::string_view own_version);

/// {"diagnoses": [{"name", "outcome", "says", "advice": null | text}]}
boost::json::value to_json(const std::vector<Diagnosis>& diagnoses);

std::string draw_diagnoses(const boost::json::value& shown, Style style);

/// The worst outcome.
Exit exit_of(const std::vector<Diagnosis>& diagnoses) noexcept;

}  // namespace wardmote::cli
