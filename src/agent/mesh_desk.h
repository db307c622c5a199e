#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "agent/board.h"
#include "agent/config/config.h"
#include "agent/reload_plan.h"
#include "base/time.h"
#include "judge/bgp/mesh.h"
#include "judge/observation.h"
#include "judge/raft/docket.h"
#include "observe/probe.h"
#include "runtime/runtime.h"

namespace wardmote::agent {

/// Judges the BGP meshes of the configuration by what the looks of their members' checks have
/// shown. Each mesh is a check, whose look is a judgement; what stands goes to the board. Life
/// cycle: outlives its probes; the board outlives it. Thread: the core loop.
class MeshDesk {
 public:
  MeshDesk(runtime::Runtime& runtime, Board& board) : runtime_(runtime), board_(board) {}

  /// Goes over to the meshes of `config` by `plan`. A mesh that stays the same keeps what it
  /// knows; of a member that is looked at in another way nothing is known until then.
  void reload(const config::Config& config, const ReloadPlan& plan);
  /// A check was looked at; checks that are in no mesh are passed over.
  void hear(const std::string& check, const judge::Observation& seen);
  /// The probe of a check of the kind config::mesh_kind().
  std::unique_ptr<observe::Probe> probe(const config::Check& check);

  /// Judges the mesh of this name now. Unknown where there is none.
  judge::Observation judge(const std::string& name);

 private:
  struct Mesh {
    config::Mesh config;
    Duration settle{};
    judge::raft::Docket memory;
  };

  runtime::Runtime& runtime_;
  Board& board_;
  std::map<std::string, Mesh> meshes_;
  std::map<std::string, judge::bgp::MeshView, std::less<>> seen_;  ///< by check, of members only
};

}  // namespace wardmote::agent
