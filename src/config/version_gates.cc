#include "config/version_gates.h"

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "act/gate/records.h"
#include "act/reconcile/options.h"
#include "base/format.h"
#include "base/result.h"
#include "base/text.h"
#include "base/time.h"
#include "base/version.h"
#include "codec/kubernetes.h"
#include "config/config.h"
#include "config/kept_folders.h"
#include "config/problem.h"
#include "config/reader.h"
#include "config/sections.h"
#include "config/yaml.h"
#include "judge/reconcile/fence.h"
#include "judge/version_gate/release.h"
#include "judge/version_gate/status.h"

namespace wardmote::config {
namespace {

using namespace std::chrono_literals;
using judge::version_gate::Release;

constexpr std::size_t kMostGates = 16;
constexpr Duration kLongestTtl = 5min;
constexpr Duration kLongestRun = 1h;
constexpr Duration kLongestEvery = 24h;
constexpr Duration kLongestWait = 10min;
constexpr std::string_view kNoStore = "default";

Release read_release(MapReader& map, std::string_view key, Release otherwise) {
  const YamlNode* const node = map.find(key);
  if (node == nullptr) return otherwise;
  const auto text = read_text(*node, key, map.problems());
  if (!text) return otherwise;
  const auto release = judge::version_gate::parse_release(*text);
  if (release) return *release;
  map.problems().add(node->at, std::string(key), release.error().context,
                     "write three numbers, as 1.2.3");
  return otherwise;
}

/// Our own, for a gate that guards Wardmote itself.
Release own_release() {
  return judge::version_gate::parse_release(kVersion).value_or(Release());
}

void read_product(MapReader& map, VersionGate& gate) {
  gate.own.release = read_release(map, "release", own_release());
  gate.own.min_reconciler_release = read_release(map, "min_reconciler_release", {});
  gate.own.min_apiserver_release = read_release(map, "min_apiserver_release", {});
  const Result<void> sense = check_sense(gate.own);
  if (sense) return;
  map.problems().add(
      map.at(), map.what(), sense.error().context,
      "give 'release', or lower the minimum: this node could neither lead nor serve");
}

void read_layout(MapReader& map, VersionGate& gate, std::string_view store) {
  gate.layout = act::gate::layout_of(store, gate.name);
  const YamlNode* const state = map.find("state_prefix");
  const YamlNode* const nodes = map.find("nodes_prefix");
  if (state != nullptr)
    gate.layout.state = read_text(*state, "state_prefix", map.problems()).value_or("");
  if (nodes != nullptr)
    gate.layout.nodes = read_text(*nodes, "nodes_prefix", map.problems()).value_or("");
  const Result<void> sense = check_sense(gate.layout);
  if (sense || gate.name.empty()) return;
  // Without either of them the name of the store is at fault.
  const YamlNode* const given = state != nullptr ? state : nodes;
  map.problems().add(given != nullptr ? given->at : map.at(), map.what(), sense.error().context,
                     "write two prefixes, as /mine/state/ and /mine/nodes/");
}

/// A leader that is gone may work for two thirds of its lease, and what it wrote last may still be
/// on its way.
void check_wait(MapReader& map, const VersionGate& gate, Duration write_deadline) {
  const Duration least = gate.ttl * 2 / 3 + write_deadline;
  const Duration wait = gate.timing.reconcile_wait;
  if (wait >= least) return;
  const YamlNode* const node = map.find("wait");
  map.problems().add(node != nullptr ? node->at : map.at(),
                     fmt::format("wait {}", spell_duration(wait)),
                     "an earlier leader may write for longer: two thirds of 'ttl' and "
                     "'write_deadline'",
                     fmt::format("write at least {}", spell_duration(least)));
}

std::string read_path(MapReader& map, std::string_view key) {
  const YamlNode* const node = map.find(key);
  if (node == nullptr) return {};
  std::string path = read_text(*node, key, map.problems()).value_or("");
  if (!path.starts_with('/'))
    map.problems().add(node->at, std::string(key), "it is no absolute path",
                       "write the whole path, as /etc/wardmote/manifests");
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  return path;
}

std::string read_space(MapReader& map, std::string_view key, std::string otherwise) {
  const YamlNode* const node = map.find(key);
  if (node == nullptr) return otherwise;
  std::string space = read_text(*node, key, map.problems()).value_or("");
  const bool good = space.size() <= 63 && !space.contains('.') && codec::is_kubernetes_name(space);
  if (!good)
    map.problems().add(node->at, std::string(key), "it is no name of a namespace",
                       "write for example kube-system");
  return space;
}

act::reconcile::KubeSetOptions read_kubernetes(const YamlNode& node, const std::string& gate,
                                               Problems& problems) {
  MapReader map(node, "kubernetes", problems);
  act::reconcile::KubeSetOptions options{.set = gate};
  options.login.kubeconfig = read_path(map, "kubeconfig");
  options.login.context = map.read("context", read_text).value_or("");
  if (const YamlNode* const set = map.find("set"))
    options.set = read_text(*set, "set", problems).value_or("");
  if (!act::reconcile::is_set_name(options.set))
    problems.add(node.at, fmt::format("set '{}'", escape_control(options.set, 64)),
                 "no object of Kubernetes may be called so",
                 "give 'set': lower-case letters, digits, '-' and '.'");
  options.space = read_space(map, "namespace", "");
  options.inventory_space = read_space(map, "inventory_namespace", options.inventory_space);
  options.prune_limit =
      static_cast<int>(map.read_integer_in("prune_limit", 0, 100, options.prune_limit));
  options.fence = judge::reconcile::FenceWish::kAuto;
  if (const YamlNode* const fence = map.find("fence")) {
    const auto word = read_text(*fence, "fence", problems);
    const auto wish = judge::reconcile::fence_wish(word.value_or("auto"));
    if (!wish)
      problems.add(fence->at, "fence", "there is no such word", "write auto, require or none");
    options.fence = wish.value_or(options.fence);
  }
  map.finish();
  return options;
}

act::reconcile::FilesOptions read_files(const YamlNode& node, const std::string& gate,
                                        const std::string& data, Problems& problems) {
  MapReader map(node, "files", problems);
  act::reconcile::FilesOptions options;
  if (data.empty())
    problems.add(node.at, "files", "nothing can remember which files are ours", "add 'data'");
  options.record = fmt::format("{}/reconcile/{}.sha256", data, gate);
  if (map.require("folder", "folder: /etc/app") != nullptr)
    options.folder = read_path(map, "folder");
  if (const YamlNode* const mode = map.find("mode")) {
    const auto text = read_text(*mode, "mode", problems);
    const auto digits = text ? parse_number<unsigned>(*text, 8) : std::nullopt;
    if (text && (!digits || *digits > 0777))
      problems.add(mode->at, "mode", "these are no access rights", "write octal digits, as 0640");
    if (digits) options.mode = static_cast<int>(*digits);
  }
  options.adopt = map.read("adopt", read_flag).value_or(false);
  options.prune_limit =
      static_cast<int>(map.read_integer_in("prune_limit", 0, 100, options.prune_limit));
  if (const YamlNode* const command = map.find("on_change")) {
    for (Placed<std::string>& word : read_texts(*command, "on_change", problems))
      options.on_change.push_back(std::move(word.value));
  }
  map.finish();
  return options;
}

act::reconcile::GitOptions read_git(const YamlNode& node, Problems& problems) {
  MapReader map(node, "git", problems);
  act::reconcile::GitOptions options;
  if (map.require("work_tree", "work_tree: /srv/manifests") != nullptr)
    options.work_tree = read_path(map, "work_tree");
  options.ref = map.read("ref", read_text).value_or(options.ref);
  if (!act::reconcile::is_git_ref(options.ref))
    problems.add(node.at, fmt::format("ref '{}'", escape_control(options.ref, 64)),
                 "it is no name of a branch, a tag or a commit", "write for example main");
  options.path = map.read("path", read_text).value_or("");
  while (options.path.ends_with('/')) options.path.pop_back();
  if (options.path.starts_with('/') || options.path.contains('\0'))
    problems.add(node.at, "path", "it is not below the repository",
                 "write it from the root of the repository, as deploy/base");
  map.finish();
  return options;
}

act::reconcile::ConfigMapOptions read_config_map(
    const YamlNode& node, const std::optional<act::reconcile::KubeSetOptions>& target,
    Problems& problems) {
  MapReader map(node, "config_map", problems);
  act::reconcile::ConfigMapOptions options;
  if (target) options.login = target->login;
  if (map.require("namespace", "namespace: kube-system") != nullptr)
    options.space = read_space(map, "namespace", "");
  if (const YamlNode* const name = map.require("name", "name: manifests")) {
    options.name = read_text(*name, "name", problems).value_or("");
    if (!codec::is_kubernetes_name(options.name))
      problems.add(name->at, "name", "no ConfigMap may be called so",
                   "write for example manifests");
  }
  if (map.find("kubeconfig") != nullptr)
    options.login = {.kubeconfig = read_path(map, "kubeconfig")};
  options.login.context = map.read("context", read_text).value_or(options.login.context);
  map.finish();
  return options;
}

/// How many of these keys are there.
int count_keys(MapReader& map, std::initializer_list<std::string_view> keys) {
  return static_cast<int>(std::ranges::count_if(
      keys, [&map](std::string_view key) { return map.find(key) != nullptr; }));
}

/// A program, or a source and one target.
void read_work(MapReader& map, const VersionGate& gate, const std::string& data,
               Reconcile& reconcile) {
  Problems& problems = map.problems();
  const YamlNode* const command = map.find("command");
  if (command != nullptr) {
    for (Placed<std::string>& word : read_texts(*command, "command", problems))
      reconcile.command.push_back(std::move(word.value));
    if (command->kind == YamlNode::Kind::kList && command->items.empty())
      problems.add(command->at, "command", "it is empty", "name a program");
  }
  if (const YamlNode* const kubernetes = map.find("kubernetes"))
    reconcile.kubernetes = read_kubernetes(*kubernetes, gate.name, problems);
  if (const YamlNode* const files = map.find("files"))
    reconcile.files = read_files(*files, gate.name, data, problems);
  if (map.find("manifests") != nullptr)
    reconcile.source = act::reconcile::FolderOptions{read_path(map, "manifests")};
  if (const YamlNode* const git = map.find("git")) reconcile.source = read_git(*git, problems);
  if (const YamlNode* const config_map = map.find("config_map"))
    reconcile.source = read_config_map(*config_map, reconcile.kubernetes, problems);
  const int sources = count_keys(map, {"manifests", "git", "config_map"});
  const int targets = count_keys(map, {"kubernetes", "files"});
  const bool by_source = sources == 1 && targets == 1 && command == nullptr;
  const bool by_command = command != nullptr && sources == 0 && targets == 0;
  if (!by_source && !by_command)
    problems.add(map.at(), map.what(), "it does not say what to do, or says it twice",
                 "give either 'command', or one of 'manifests', 'git' and 'config_map' and one of "
                 "'kubernetes' and 'files'");
}

Reconcile read_reconcile(const YamlNode& node, VersionGate& gate, const std::string& data,
                         Problems& problems) {
  MapReader map(node, fmt::format("reconcile of version gate '{}'", gate.name), problems);
  Reconcile reconcile;
  if (const YamlNode* const mode = map.find("mode")) {
    const auto word = read_text(*mode, "mode", problems);
    reconcile.acts = word == "act";
    if (word && word != "act" && word != "observe")
      problems.add(mode->at, "mode", "there is no such mode", "write observe or act");
  }
  read_work(map, gate, data, reconcile);
  reconcile.timeout = map.read_duration_in("timeout", 1s, kLongestRun, reconcile.timeout);
  gate.timing.pass_every = map.read_duration_in("every", 1s, kLongestEvery, gate.timing.pass_every);
  gate.timing.reconcile_wait =
      map.read_duration_in("wait", 0s, kLongestWait, gate.timing.reconcile_wait);
  reconcile.write_deadline =
      map.read_duration_in("write_deadline", 0s, 5min, reconcile.write_deadline);
  check_wait(map, gate, reconcile.write_deadline);
  map.finish();
  return reconcile;
}

bool meet(const act::gate::Layout& a, const act::gate::Layout& b) {
  for (const std::string* one : {&a.state, &a.nodes}) {
    for (const std::string* other : {&b.state, &b.nodes}) {
      if (one->starts_with(*other) || other->starts_with(*one)) return true;
    }
  }
  return false;
}

/// Whether both would keep the same things, and each delete what is the other's.
bool keep_the_same(const Reconcile& a, const Reconcile& b) {
  if (a.kubernetes && b.kubernetes)
    return a.kubernetes->set == b.kubernetes->set && a.kubernetes->login == b.kubernetes->login;
  return a.files && b.files && overlap(a.files->folder, b.files->folder);
}

void check_folder(const YamlNode& item, const VersionGate& gate, const Config& config,
                  Problems& problems) {
  if (!gate.reconcile) return;
  const auto why = bad_folder(*gate.reconcile, config.data);
  if (why)
    problems.add(item.at, fmt::format("version gate '{}'", escape_control(gate.name, 64)), *why,
                 "give it another folder");
}

void check_targets(const YamlNode& item, const VersionGate& gate, const Config& config,
                   Problems& problems) {
  for (const VersionGate& other : config.version_gates) {
    if (!gate.reconcile || !other.reconcile) continue;
    if (!keep_the_same(*gate.reconcile, *other.reconcile)) continue;
    problems.add(item.at, fmt::format("version gate '{}'", escape_control(gate.name, 64)),
                 fmt::format("it would keep what version gate '{}' keeps, and each would delete "
                             "what is the other's",
                             escape_control(other.name, 64)),
                 gate.reconcile->files
                     ? "give each a folder of its own, and none inside the other's"
                     : "give each its own 'set'");
  }
}

}  // namespace

void read_version_gates(const YamlNode& list, Config& config, Problems& problems) {
  if (list.kind != YamlNode::Kind::kList || list.items.size() > kMostGates) {
    problems.add(list.at, "version_gates",
                 fmt::format("not a list of at most {} version gates", kMostGates),
                 "write '- {name: kubernetes, release: 1.2.3}' below it");
    return;
  }
  if (!config.store && config.data.empty()) {
    problems.add(list.at, "version_gates", "there is no store for what the nodes share",
                 "add 'store', or 'data' if this node is alone");
  }
  Names names;
  for (const YamlNode& item : list.items) {
    VersionGate gate;
    MapReader map(item, fmt::format("version gate {}", config.version_gates.size() + 1), problems);
    if (const YamlNode* const name = map.require("name", "name: kubernetes")) {
      gate.name = read_name(*name, "name", problems).value_or("");
      if (!gate.name.empty()) names.add(gate.name, name->at, problems);
    }
    read_product(map, gate);
    gate.enroll = map.read("register", read_flag).value_or(true);
    read_layout(map, gate, config.store ? std::string_view(config.store->name) : kNoStore);
    gate.ttl = map.read_duration_in("ttl", 2s, kLongestTtl, gate.ttl);
    if (const YamlNode* const reconcile = map.find("reconcile"))
      gate.reconcile = read_reconcile(*reconcile, gate, config.data, problems);
    map.finish();
    const bool shared = std::ranges::any_of(config.version_gates, [&](const VersionGate& other) {
      return other.name != gate.name && meet(other.layout, gate.layout);
    });
    if (shared)
      problems.add(item.at, map.what(), "another version gate has the same keys",
                   "give each its own prefixes");
    check_folder(item, gate, config, problems);
    check_targets(item, gate, config, problems);
    config.version_gates.push_back(std::move(gate));
  }
}

}  // namespace wardmote::config
