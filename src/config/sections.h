#pragma once
// The parts of parse_config(), one file each. Every reader reports what is wrong and returns what
// it could read.

#include <chrono>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "act/kubernetes/options.h"
#include "config/config.h"
#include "config/reader.h"
#include "judge/notify/matcher.h"
#include "judge/notify/muting.h"
#include "judge/plan/plan.h"
#include "runtime/tls.h"

namespace wardmote::config {

/// Names that must differ from each other. Views into what was read; the tree outlives them.
class Names {
 public:
  /// Reports a name that was taken before.
  void add(const std::string& name, Place at, Problems& problems);
  [[nodiscard]] bool contains(const std::string& name) const { return places_.contains(name); }
  [[nodiscard]] std::vector<std::string_view> all() const;

 private:
  std::map<std::string, Place, std::less<>> places_;
};

struct ScheduleDefaults {
  Duration every;
  int fall;
  int rise;
};
/// every, timeout, fall, rise, optional, unknown_limit, start_period.
Schedule read_schedule(MapReader& map, const ScheduleDefaults& defaults);

/// All of it, from the tree of one file or of several.
Config read_config(const YamlNode& root, std::span<const observe::ProbeKind> kinds,
                   Problems& problems);
/// `tls` of a cluster's `ovn`: ca, certificate, key. Members are believed by their authority,
/// whatever their names, as Open vSwitch does.
runtime::TlsSettings read_member_tls(const YamlNode& node, Problems& problems);
/// `tls` of `api`: certificate, key, client_ca.
runtime::TlsSettings read_api_tls(const YamlNode& node, Problems& problems);

Store read_store(const YamlNode& node, Problems& problems);
Api read_api(const YamlNode& node, Problems& problems);
/// A cluster with `etcd`. Into `config`, with its check.
void read_etcd_cluster(const YamlNode& node, Config& config, Names& names, Problems& problems);
/// Into `config`, with the check of each cluster. Before all other checks.
void read_clusters(const YamlNode& list, Config& config, Names& names, Problems& problems);
std::vector<Check> read_checks(const YamlNode& list, std::span<const observe::ProbeKind> kinds,
                               Names& names, Problems& problems);
/// What every check depends on is one of `names`.
void check_dependencies(const std::vector<Check>& checks, const Names& names, Problems& problems);
/// Names only clusters of `config`, and asks for `data` where something acts. After the store.
std::vector<judge::plan::Policy> read_policies(const YamlNode& list, const Config& config,
                                               Problems& problems);
/// `own` has the labels of this node, in this and the next two.
Notify read_notify(const YamlNode& map, const Node& own, Problems& problems);
/// `match` of a map: what is no matcher, or asks for a label that there is not, is a problem and
/// left out.
std::vector<judge::notify::Matcher> read_matchers(MapReader& map, const Node& own);
std::vector<judge::notify::Silence> read_silences(const YamlNode& list, const Node& own,
                                                  Problems& problems);
/// Into `config`, with the checks of each reporter.
void read_reporters(const YamlNode& list, Config& config, Names& names, Problems& problems);
/// Into `config`, with the check of each mesh. After the checks.
void read_meshes(const YamlNode& list, Config& config, Names& names, Problems& problems);
/// Into `config`, with the check of the hypervisor.
void read_guests(const YamlNode& node, Config& config, Names& names, Problems& problems);
/// Into `config`. After the store.
void read_version_gates(const YamlNode& list, Config& config, Problems& problems);
/// Into `config`. After the node and the store.
PublicPage read_public_page(const YamlNode& node, const Names& names, Problems& problems);

act::kubernetes::NodeConditionsOptions read_node_conditions(const YamlNode& node,
                                                            Problems& problems);

void read_failover(const YamlNode& list, Config& config, Names& names, Problems& problems);
std::vector<Gate> read_gates(const YamlNode& map, const Names& names, Problems& problems);

}  // namespace wardmote::config
