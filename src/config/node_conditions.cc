#include <string>

#include "act/kubernetes/options.h"
#include "base/format.h"
#include "base/text.h"
#include "base/time.h"
#include "codec/kubernetes.h"
#include "config/problem.h"
#include "config/reader.h"
#include "config/sections.h"
#include "config/yaml.h"

namespace wardmote::config {

using namespace std::chrono_literals;

act::kubernetes::NodeConditionsOptions read_node_conditions(const YamlNode& node,
                                                            Problems& problems) {
  MapReader map(node, "node_conditions", problems);
  act::kubernetes::NodeConditionsOptions options;
  if (const YamlNode* const name = map.find("node")) {
    options.node = read_text(*name, "node", problems).value_or("");
    if (!codec::is_kubernetes_name(options.node))
      problems.add(name->at, fmt::format("node '{}'", escape_control(options.node, 64)),
                   "no Node may be called so", "write the name that 'kubectl get nodes' shows");
  }
  if (const YamlNode* const file = map.find("kubeconfig")) {
    options.login.kubeconfig = read_text(*file, "kubeconfig", problems).value_or("");
    if (!options.login.kubeconfig.starts_with('/'))
      problems.add(file->at, "kubeconfig", "it is no absolute path",
                   "write the whole path, as /etc/wardmote/kubeconfig");
  }
  options.login.context = map.read("context", read_text).value_or("");
  options.heartbeat = map.read_duration_in("heartbeat", 10s, 1h, options.heartbeat);
  map.finish();
  return options;
}

}  // namespace wardmote::config
