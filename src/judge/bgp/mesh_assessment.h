#pragma once

#include <string>
#include <vector>

#include "base/time.h"
#include "judge/bgp/mesh.h"
#include "judge/finding.h"
#include "judge/outcome.h"
#include "judge/raft/assess.h"
#include "judge/raft/docket.h"

namespace wardmote::judge::bgp {

/// The finding that a fault becomes when it stands for long enough.
Code code_of(MeshFault fault) noexcept;

/// How the session between two nodes is named: by the names in the order of the mesh.
std::string pair_name(const std::string& first, const std::string& second);

struct MeshAssessment {
  Mesh mesh;
  std::vector<Finding> findings;         ///< those that have stood for their windows
  std::vector<raft::Observed> observed;  ///< those that have not yet
  Outcome outcome = Outcome::kUnknown;   ///< by what stands; unknown while a node is
};

/// Judges the last looks at all nodes. `memory` knows what stood before, and since when. What is
/// seen in one look alone is no finding, and a node of which nothing is known neither begins nor
/// ends one. Pure.
MeshAssessment judge_mesh(const std::vector<MeshView>& views, const MeshExpectation& expectation,
                          raft::Docket& memory, TimePoint now);

}  // namespace wardmote::judge::bgp
