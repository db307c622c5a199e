#pragma once

#include <boost/json/value.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/doctor/rights.h"
#include "cli/exit_code.h"
#include "cli/render/style.h"
#include "judge/outcome.h"

namespace wardmote::cli {

/// One thing that was examined, and what to do about it.
struct Diagnosis {
  std::string what;  ///< `agent`, `configuration`, `clock`
  judge::Outcome outcome = judge::Outcome::kUnknown;
  std::string says;
  std::string advice = {};  ///< empty when there is nothing to do
};

/// What can be found out about this machine and its agent without asking the agent.
struct Surroundings {
  /// whether the kernel's clock is synchronised; nothing when the kernel does not say
  std::optional<bool> clock_synchronised;
  std::optional<std::uint64_t> agent_descriptors;  ///< descriptors that the agent has open
  std::optional<std::uint64_t> agent_limit;        ///< descriptors that it may have open
  std::optional<std::uint32_t> socket_mode;        ///< permission bits of its unix socket
  std::optional<double>
      cpu_pressure;  ///< per cent of the last ten seconds in which some task waited
};

/// Judges the machine. Pure.
std::vector<Diagnosis> diagnose(const Surroundings& around);

/// The files that the agent may not open, and the user that it runs as.
struct Refusals {
  std::vector<RefusedFile> files;
  AgentProcess agent;
};

/// Judges the agent by /api/v1/status. Pure.
std::vector<Diagnosis> diagnose_status(const boost::json::value& status,
                                       std::string_view own_version, const Refusals& refusals = {});

/// Checks by /api/v1/plans whether policies can do what they are configured for. Pure.
std::vector<Diagnosis> diagnose_plans(const boost::json::value& plans);

/// {"diagnoses": [{"name", "outcome", "says", "advice": null | text}]}
boost::json::value to_json(const std::vector<Diagnosis>& diagnoses);

std::string draw_diagnoses(const boost::json::value& shown, Style style);

/// The worst outcome.
Exit exit_of(const std::vector<Diagnosis>& diagnoses) noexcept;

}  // namespace wardmote::cli
