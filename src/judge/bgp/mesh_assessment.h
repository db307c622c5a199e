#pragma once

#include <string>
#include <vector>

#include "base/time.h"
#include "judge/bgp/mesh.h"
#include "judge/condition/condition.h"
#include "judge/condition/condition_tracker.h"
#include "judge/finding.h"
#include "judge/outcome.h"

namespace wardmote::judge::bgp {

/// The finding that a fault becomes when it lasts.
Code code_of(MeshFault fault) noexcept;

/// The name of the session between two nodes: their names in the order of the mesh.
std::string pair_name(const std::string& first, const std::string& second);

struct MeshAssessment {
  Mesh mesh;
  std::vector<Finding> findings;        ///< faults that have lasted for their windows
  std::vector<Observed> observed;       ///< faults that have not yet
  Outcome outcome = Outcome::kUnknown;  ///< by the findings; unknown while a node is unknown
};

/// Judges the last probes of all nodes. `memory` knows which faults were seen before, and since
/// when. A fault that only one probe shows is not a finding. A node whose state is unknown neither
/// begins nor ends a finding. Pure.
MeshAssessment judge_mesh(const std::vector<MeshView>& views, const MeshExpectation& expectation,
                          ConditionTracker& memory, TimePoint now);

}  // namespace wardmote::judge::bgp
