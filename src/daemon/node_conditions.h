#pragma once

#include <memory>
#include <string>
#include <vector>

#include "act/kubernetes/node_conditions.h"
#include "config/config.h"
#include "judge/node_condition.h"
#include "net/asio_runtime.h"
#include "runtime/http_client.h"
#include "serve/view.h"

namespace wardmote::daemon {

/// For a configuration that wants them; `node` is how the agent calls itself. What it is given
/// outlives it.
std::unique_ptr<act::kubernetes::NodeConditions> make_node_conditions(net::AsioRuntime& runtime,
                                                                      runtime::HttpClient& http,
                                                                      const config::Config& config,
                                                                      const std::string& node);

/// As all checks of the agent are now.
std::vector<judge::NodeCondition> node_conditions_of(const serve::AgentView& view);

}  // namespace wardmote::daemon
