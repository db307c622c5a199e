#include "daemon/node_conditions.h"

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "act/kubernetes/node_conditions.h"
#include "act/kubernetes/options.h"
#include "base/text.h"
#include "config/config.h"
#include "daemon/pod.h"
#include "judge/node_condition.h"
#include "net/asio_runtime.h"
#include "net/local_tree.h"
#include "runtime/http_client.h"
#include "serve/view.h"

namespace wardmote::daemon {

std::unique_ptr<act::kubernetes::NodeConditions> make_node_conditions(net::AsioRuntime& runtime,
                                                                      runtime::HttpClient& http,
                                                                      const config::Config& config,
                                                                      const std::string& node) {
  act::kubernetes::NodeConditionsOptions options = *config.node_conditions;
  if (options.node.empty()) options.node = node;
  options.login.pod_server = pod_server();
  return std::make_unique<act::kubernetes::NodeConditions>(
      runtime, http, std::make_unique<net::LocalTree>(runtime), std::move(options));
}

std::vector<judge::NodeCondition> node_conditions_of(const serve::AgentView& view) {
  std::vector<std::string> reasons;
  reasons.reserve(view.checks.size());
  for (const serve::CheckView& check : view.checks)
    reasons.push_back(escape_control(check.reason.text));
  std::vector<judge::CheckFact> facts;
  facts.reserve(view.checks.size());
  for (std::size_t at = 0; at < reasons.size(); ++at) {
    const serve::CheckView& check = view.checks[at];
    facts.push_back({check.name, check.kind, check.state, check.optional, reasons[at]});
  }
  return judge::node_conditions(facts);
}

}  // namespace wardmote::daemon
