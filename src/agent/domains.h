#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "agent/domain.h"
#include "config/config.h"
#include "incidents/dependencies.h"
#include "judge/incident/news.h"
#include "runtime/hypervisor.h"

namespace wardmote::act {
class PlanRunner;
class StepExecutors;
}  // namespace wardmote::act
namespace wardmote::judge {
class StarvationGuard;
}
namespace wardmote::judge::failover {
struct PairReport;
}
namespace wardmote::runtime {
class Runtime;
}
namespace wardmote::serve {
class Renderer;
struct Family;
}  // namespace wardmote::serve

namespace wardmote::incidents {
class ChangeFeed;
class IncidentManager;
class RecordWriter;
}  // namespace wardmote::incidents
namespace wardmote::agent {

class Archive;
class Board;
class Scheduler;

/// What the managers of failover pairs on this node report, in no order; may be empty.
using PairReports = std::function<std::vector<judge::failover::PairReport>()>;

/// Who recovers what runs on this host, as Masakari does; each may be empty.
struct Recoverer {
  std::function<bool()> maintenance;  ///< somebody works on the host
  std::function<void(const runtime::HypervisorEvent&)> hear;
};

/// What domains are made with. All of it outlives them.
struct DomainTools {
  runtime::Runtime& runtime;
  const std::string& node;           ///< how the agent calls itself
  incidents::RecordWriter& records;  ///< what outlives the agent
  Board& board;
  incidents::ChangeFeed& feed;
  Scheduler& scheduler;
  const judge::StarvationGuard& guard;
  Archive& archive;
  incidents::IncidentManager& incidents;
  act::PlanRunner& plans;
  act::StepExecutors& executors;  ///< who does the steps of plans for its things
  serve::Renderer& renderer;
  const PairReports& pairs;
  const Recoverer& recoverer;
};

struct DomainRow {
  std::string_view name;
  const serve::Family* family;  ///< of the things that it judges; null: it judges none as a whole
  std::unique_ptr<Domain> (*make)(const DomainTools& tools);
  /// Adds what its things depend on, and how its checks are known to incidents; null: nothing.
  incidents::Depend depend;
};

/// In the order in which they go over to a configuration. A program may have others than the
/// product, as a test of a made-up domain does. They outlive the agent.
using Domains = std::span<const DomainRow>;
/// Those of the product.
Domains domains() noexcept;

/// What they tell about dependencies.
incidents::Depends depends_of(Domains domains);

}  // namespace wardmote::agent
