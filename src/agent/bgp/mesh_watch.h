#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "agent/board.h"
#include "agent/domain.h"
#include "agent/domains.h"
#include "base/result.h"
#include "base/time.h"
#include "config/config.h"
#include "config/reload_plan.h"
#include "incidents/hold.h"
#include "judge/bgp/mesh.h"
#include "judge/bgp/mesh_assessment.h"
#include "judge/condition/condition_tracker.h"
#include "judge/incident/news.h"
#include "judge/observation.h"
#include "observe/probe.h"
#include "runtime/runtime.h"
#include "runtime/task.h"
#include "serve/bgp/mesh_view.h"

namespace wardmote::agent {

/// Judges the BGP meshes of the configuration by what the looks of their members' checks have
/// shown. Each mesh is a check, whose look is a judgement; what stands goes to the board.
class MeshWatch final : public Domain {
 public:
  explicit MeshWatch(const DomainTools& tools)
      : runtime_(tools.runtime),
        board_(tools.board),
        holds_(incidents::holds_of(tools.incidents)),
        records_(tools.records),
        node_(tools.node) {}

  /// What the daemons said of themselves last: one that is silent now says nothing.
  runtime::Task<Result<void>> recall() override;
  /// The daemons above their sessions, and each session above what the checks of both ends say of
  /// their sessions.
  static void depend(const config::Config& config, judge::incident::Dependencies& known);
  /// A mesh that stays the same keeps what it knows; of a member that is looked at in another way
  /// nothing is known until then.
  Result<Adopt> prepare(const config::Config& next) override;
  [[nodiscard]] const observe::ProbeKind& kind() const noexcept override;
  std::unique_ptr<observe::Probe> probe(const config::Check& check) override;
  /// Checks that are in no mesh are passed over.
  void observed(const std::string& check, const judge::Observation& seen) override;

  /// Judges the mesh of this name now. Unknown where there is none.
  judge::Observation judge(const std::string& name);

 private:
  struct Mesh {
    config::Mesh config;
    Duration settle{};
    judge::ConditionTracker memory;
    incidents::Hold hold;
    TimePoint round_began;  ///< a round is over when every member was looked at since
    std::shared_ptr<const serve::MeshView> shown;
  };

  /// Nothing is known of the checks that are not members, or are others now.
  void forget(const config::ReloadPlan& plan, const std::set<std::string>& members);
  void adopt(const config::Config& now, const config::ReloadPlan& plan);
  /// What is shown before the first look.
  std::shared_ptr<const serve::MeshView> begin(Mesh& mesh, const config::Mesh& config);
  static incidents::Round round_of(Mesh& mesh, const std::vector<judge::bgp::MeshView>& views,
                                   const judge::bgp::MeshAssessment& assessment, TimePoint now);

  runtime::Runtime& runtime_;
  Board& board_;
  incidents::Holds holds_;
  incidents::RecordWriter& records_;
  const std::string node_;
  std::map<std::string, Mesh> meshes_;
  std::map<std::string, judge::bgp::MeshView, std::less<>> seen_;  ///< by check, of members only
  std::map<std::string, std::vector<std::string>> recalled_;  ///< addresses by check, until adopted
};

}  // namespace wardmote::agent
