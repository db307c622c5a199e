#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "config/import/draft.h"
#include "config/yaml.h"

namespace wardmote::config {

/// What a Prometheus server has blackbox_exporter look at.
struct ProbeTarget {
  ForeignPlace at;
  std::string module;
  std::string target;
  std::string hostname;  ///< `__param_hostname`; empty: none
  std::chrono::milliseconds every{};
  std::chrono::milliseconds timeout{};  ///< of the scrape
};

/// The targets of all `/probe` jobs of a prometheus.yml, after their relabelling, as far as it is
/// the usual one: rules that copy and put together labels. Says which jobs, targets and sources of
/// targets are left out. `file` is the index of the file.
std::vector<ProbeTarget> read_probe_targets(ImportDraft& draft, std::size_t file,
                                            const YamlNode& root);

}  // namespace wardmote::config
