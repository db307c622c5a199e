#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "act/kubernetes/options.h"
#include "act/notify/channels.h"
#include "act/notify/journal.h"
#include "act/notify/kubernetes.h"
#include "act/notify/mail.h"
#include "act/notify/masakari.h"
#include "act/notify/services/service.h"
#include "base/time.h"
#include "config/failover.h"
#include "config/guests.h"
#include "config/problem.h"
#include "config/version_gates.h"
#include "judge/bgp/mesh.h"
#include "judge/check_machine.h"
#include "judge/notify/muting.h"
#include "judge/notify/router.h"
#include "judge/plan/plan.h"
#include "judge/raft/assess.h"
#include "judge/report/reporters.h"
#include "observe/kinds.h"
#include "runtime/endpoint.h"
#include "runtime/runtime.h"
#include "serve/role.h"

namespace wardmote::config {

struct Node {
  std::string name;  ///< empty: the host's name
  std::map<std::string, std::string> labels;
  friend bool operator==(const Node&, const Node&) = default;
};

/// The etcd cluster that agents share, and this agent's part in it.
struct Store {
  std::vector<runtime::Endpoint> endpoints;  ///< at least one, of one cluster
  std::string user;                          ///< empty: none
  std::string password_file;                 ///< an absolute path
  std::string name = "default";              ///< agents of one name belong together
  Duration ttl = std::chrono::seconds(6);    ///< of the leader's lease, and of a presence
  friend bool operator==(const Store&, const Store&) = default;
};

/// A bearer token that the API knows.
struct ApiToken {
  std::string name;
  serve::Role role = serve::Role::kViewer;
  std::string file;  ///< that holds it, an absolute path
  friend bool operator==(const ApiToken&, const ApiToken&) = default;
};

/// Where the API is served, the same routes on both, and who may do what there.
struct Api {
  std::optional<runtime::Endpoint> listen;  ///< tcp or tls
  std::optional<runtime::Endpoint> socket;  ///< unix
  /// At `listen`, of who shows nothing: kViewer or kNone.
  serve::Role anonymous = serve::Role::kViewer;
  std::vector<ApiToken> tokens;
  std::map<std::string, serve::Role> certificates;  ///< at `listen`, by runtime::Peer's names
  std::map<std::string, serve::Role> groups;  ///< at `socket`: by the name or number of a group
  std::vector<std::string> hosts;             ///< names of this host, lower case
  friend bool operator==(const Api&, const Api&) = default;
};

/// When to look, and how much it takes to believe what was seen.
struct Schedule {
  Duration every{};
  Duration timeout{};  ///< of one look; at most `every`
  judge::CheckPolicy policy;
  bool optional = false;  ///< does not hold a gate back while it was never seen good
  friend bool operator==(const Schedule&, const Schedule&) = default;
};

/// What is run to rebuild a member; empty commands: it is never rebuilt.
struct Repair {
  std::vector<std::string> copy;               ///< argv: copies its database aside
  std::vector<std::string> report;             ///< argv: says what `copy` says; may be empty
  std::vector<std::string> rejoin;             ///< argv: has it join anew with an empty database
  Duration timeout = std::chrono::minutes(2);  ///< of each
  friend bool operator==(const Repair&, const Repair&) = default;
};

/// One member of an OVN database cluster. At least one way to ask it.
struct Member {
  std::string name;
  std::optional<runtime::Endpoint> control;  ///< unix: the daemon's unixctl socket
  std::optional<runtime::Endpoint> ovsdb;
  /// Instead of the socket of the same way: a command that ends in `ovn-appctl -t SOCKET`, or in
  /// `ovsdb-client query SERVER`.
  std::vector<std::string> control_command{};
  std::vector<std::string> ovsdb_command{};
  Repair repair{};
  friend bool operator==(const Member&, const Member&) = default;
};

/// Whether both lead to the same sockets and commands.
bool asked_in_the_same_way(const Member& a, const Member& b);
/// The member of the same name if that is asked in the same way, else another one that is; null:
/// none is.
const Member* find_asked_alike(std::span<const Member> members, const Member& member);

struct Cluster {
  std::string name;
  judge::raft::Expectation expectation;  ///< carries the database's name
  std::vector<Member> members;           ///< at least one; names, control and ovsdb sockets differ
  Schedule schedule;
  friend bool operator==(const Cluster&, const Cluster&) = default;
};

struct Check {
  std::string name;
  Place at;                                  ///< for messages
  const observe::ProbeKind* kind = nullptr;  ///< never null
  observe::Params params;                    ///< as the kind's specs say
  Schedule schedule;
  std::vector<std::string> depends_on;  ///< checks and clusters whose failure explains its own
  bool whole = true;                    ///< all of it could be read
  friend bool operator==(const Check&, const Check&) = default;
};

/// BGP daemons that are judged from both ends of their sessions. The mesh is a check besides, of
/// its name.
struct Mesh {
  struct Member {
    std::string check;                   ///< a check of the kind bird or frr; its name in the mesh
    std::vector<std::string> addresses;  ///< by which the others may know it
    friend bool operator==(const Member&, const Member&) = default;
  };

  std::string name;
  std::vector<Member> members;  ///< at least two
  judge::bgp::MeshExpectation expectation;
  friend bool operator==(const Mesh&, const Mesh&) = default;
};

/// Passes while every check and cluster in `all` does, and enough of `at_least`. One of both is
/// there.
struct Gate {
  struct AtLeast {
    std::uint64_t count = 1;                                ///< of weights; from 1 to their sum
    std::vector<std::pair<std::string, std::uint32_t>> of;  ///< names and weights from 1 on
    friend bool operator==(const AtLeast&, const AtLeast&) = default;
  };

  std::string name;
  std::vector<std::string> all;
  std::optional<AtLeast> at_least = std::nullopt;
  friend bool operator==(const Gate&, const Gate&) = default;
};

/// How to tell somebody, by kind. The secrets are not read yet.
using ReceiverOptions =
    std::variant<act::notify::WebhookOptions, act::notify::AlertmanagerOptions,
                 act::notify::MasakariOptions, act::notify::KubernetesOptions,
                 act::notify::MailOptions, act::notify::ExecOptions, act::notify::JournalOptions,
                 act::notify::LogOptions, act::notify::ServiceOptions>;

/// One way to tell somebody.
struct Receiver {
  std::string name;
  Duration timeout{};
  ReceiverOptions options = act::notify::LogOptions();
  friend bool operator==(const Receiver&, const Receiver&) = default;
};

/// `webhook`, as the configuration calls its kind.
std::string_view kind_name(const Receiver& receiver) noexcept;

/// Who is told of what.
struct Notify {
  std::vector<Receiver> receivers;
  std::vector<judge::notify::Route> routes;
  std::vector<judge::notify::Maintenance> maintenance;
  std::vector<judge::notify::Silence> silences;
  friend bool operator==(const Notify&, const Notify&) = default;
};

/// Somebody who pushes reports of itself. Each quality that it reports is a check besides:
/// `NAME.live`, `NAME.ready`.
struct Reporter {
  std::string name;
  judge::ReporterRule rule;
  std::optional<runtime::Endpoint> socket;  ///< unix: where its datagrams come in
  friend bool operator==(const Reporter&, const Reporter&) = default;
};

/// The kind of a reporter's checks. Its probe is made by the registry that hears the reports, so
/// `make` is null; it is no kind that somebody could name.
const observe::ProbeKind& reporter_kind() noexcept;

/// The kind of a cluster's check, which is looked at with all its members; as reporter_kind().
const observe::ProbeKind& cluster_kind() noexcept;

/// The check that stands for it.
Check check_of(const Cluster& cluster, Place at = {});

/// The kind of a mesh's check; as reporter_kind().
const observe::ProbeKind& mesh_kind() noexcept;

/// A whole configuration, valid in itself: names of checks and clusters are unique together, gates
/// name only them, and there is something to watch. `ready` is always among the gates.
/// What everybody may see, under names that were chosen for it.
struct PublicPage {
  struct Line {
    std::string name;
    std::vector<std::string> checks;  ///< by name; at least one, and each is known
    friend bool operator==(const Line&, const Line&) = default;
  };
  std::string title;
  std::vector<Line> lines;
  friend bool operator==(const PublicPage&, const PublicPage&) = default;
};

struct Config {
  Node node;
  Api api;
  std::string data;  ///< an absolute folder for what must outlive the agent; empty: nothing does
  std::optional<Store> store;  ///< nothing: the agent shares nothing
  std::vector<Cluster> clusters;
  /// Those of clusters (first), reporters, meshes and the hypervisor too.
  std::vector<Check> checks;
  std::vector<Reporter> reporters;
  std::vector<Mesh> meshes;
  std::optional<Guests> guests;
  std::vector<Gate> gates;
  std::vector<VersionGate> version_gates;
  std::vector<Failover> failover;
  std::optional<act::kubernetes::NodeConditionsOptions> node_conditions;  ///< nothing: none
  std::optional<PublicPage> public_page;                                  ///< nothing: none
  Notify notify;
  /// Each with its own name, on clusters that are there; one that acts needs `data`.
  std::vector<judge::plan::Policy> policies;
};

/// Reads `bytes` as YAML. Either a whole configuration, or every problem found, in the order of the
/// file. Pure. `kinds` outlives the result.
std::expected<Config, std::vector<Problem>> parse_config(std::string_view bytes,
                                                         std::span<const observe::ProbeKind> kinds);

/// What is valid and does less than it seems to, for people.
std::vector<std::string> warnings(const Config& config);

/// What the kinds say of the parameters of their checks taken together becomes problems. A check
/// that could not be read whole is left out. Makes every probe once and lets it go; no probe looks.
void try_probes(const Config& config, runtime::Runtime& runtime, Problems& problems);

}  // namespace wardmote::config
