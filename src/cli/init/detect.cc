#include "cli/init/detect.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/format.h"

namespace wardmote::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostServices = 100;
constexpr std::size_t kMostLines = 10'000;

struct Database {
  std::string_view stem;  ///< the name of its sockets: `ovnnb_db.ctl`, `ovnnb_db.sock`
  std::string_view cluster;
  std::string_view name;
};
constexpr auto kDatabases = std::to_array<Database>({
    {"ovnnb_db", "ovn-nb", "OVN_Northbound"},
    {"ovnsb_db", "ovn-sb", "OVN_Southbound"},
    {"ovn_ic_nb_db", "ovn-ic-nb", "OVN_IC_Northbound"},
    {"ovn_ic_sb_db", "ovn-ic-sb", "OVN_IC_Southbound"},
});
constexpr auto kOvnFolders =
    std::to_array<std::string_view>({"run/ovn", "var/run/ovn", "run/openvswitch"});

/// A daemon that is recognised by one file.
struct Landmark {
  std::string_view name;
  std::string_view path;
  std::string_view kind;
  std::string_view param;  ///< the parameter that gets the path
};
constexpr auto kLandmarks = std::to_array<Landmark>({
    {"bird", "run/calico/bird.ctl", "bird", "socket"},
    {"bird6", "run/calico/bird6.ctl", "bird", "socket"},
    {"bird", "run/bird/bird.ctl", "bird", "socket"},
    {"bird", "run/bird.ctl", "bird", "socket"},
    {"bird6", "run/bird6.ctl", "bird", "socket"},
    {"frr-bgpd", "run/frr/bgpd.vty", "frr", "socket"},
    {"frr-bgpd-process", "run/frr/bgpd.pid", "process", "program"},
});

constexpr std::string_view kCalicoFolder = "run/calico/";
/// Calico writes this file when the node starts.
constexpr std::string_view kNodename = "var/lib/calico/nodename";

constexpr auto kServiceFolders = std::to_array<std::string_view>(
    {"etc/service/enabled", "etc/service", "var/service", "run/service", "service"});

/// The services that a control plane needs, of the hundred that systemd runs. Longer names that
/// begin so count too: `libvirtd-tcp`, `ovn-controller-vtep`.
constexpr auto kUnits = std::to_array<std::string_view>({
    "bird",         "calico",       "containerd", "corosync",        "crio",         "docker",
    "etcd",         "frr",          "galera",     "haproxy",         "k3s",          "keepalived",
    "kubelet",      "libvirtd",     "mariadb",    "masakari",        "nova-compute", "ovn-",
    "ovs-vswitchd", "ovsdb-server", "pacemaker",  "rabbitmq-server", "rke2",
});
/// systemd makes a link of this name for each unit that it has started.
constexpr std::string_view kInvocation = "invocation:";

/// The port of Felix's health reports (FELIX_HEALTHPORT).
constexpr std::uint16_t kFelixHealth = 9099;

bool is_there(const fs::path& path) {
  std::error_code error;
  return fs::exists(path, error);
}

/// Whether a configuration may have this name.
std::string clean(std::string_view raw) {
  std::string name;
  for (const char c : raw.substr(0, 40)) {
    const bool good = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                      c == '.' || c == '_' || c == '-';
    name += good ? c : '-';
  }
  const std::size_t begin = name.find_first_not_of("._-");
  return begin == std::string::npos ? "unnamed" : name.substr(begin);
}

class Detector {
 public:
  explicit Detector(const std::string& root) : root_(root) {}

  std::vector<Found> run() && {
    find_databases();
    for (const Landmark& mark : kLandmarks) {
      if (!is_there(root_ / mark.path)) continue;
      std::vector<Found::Param> params = {{std::string(mark.param), shown(mark.path)}};
      if (mark.path.starts_with(kCalicoFolder)) {
        // Otherwise a node that calico-node calls ready would not be ready here.
        params.push_back({"policy", "calico"});
        if (is_there(root_ / kNodename)) params.push_back({"started_file", shown(kNodename)});
      }
      add(mark.name, std::string(mark.kind), std::move(params), shown(mark.path));
    }
    find_felix();
    for (const std::string_view folder : kServiceFolders) find_services(folder);
    find_units();
    return std::move(found_);
  }

 private:
  /// The path as it is on the machine itself.
  static std::string shown(const fs::path& below_root) { return "/" + below_root.string(); }

  /// The first of a name stays: the same thing may be found under two paths, or in two ways.
  void add(std::string_view name, std::string kind, std::vector<Found::Param> params,
           const std::string& why) {
    const std::string chosen = clean(name);
    if (!names_.insert(chosen).second) return;
    found_.push_back({chosen, std::move(kind), std::move(params), why});
  }

  void find_databases() {
    for (const std::string_view folder : kOvnFolders) {
      for (const Database& database : kDatabases) {
        const fs::path base = fs::path(folder) / database.stem;
        const std::string control = base.string() + ".ctl";
        const std::string socket = base.string() + ".sock";
        if (!is_there(root_ / control)) continue;
        std::vector<Found::Param> params = {{"database", std::string(database.name)},
                                            {"control", shown(control)}};
        if (is_there(root_ / socket)) params.push_back({"ovsdb", "unix:" + shown(socket)});
        add(database.cluster, std::string(kClusterKind), std::move(params), shown(control));
      }
    }
  }

  /// Felix has no file of its own; it has a listening port.
  void find_felix() {
    for (const char* table : {"proc/net/tcp", "proc/net/tcp6"}) {
      std::ifstream lines(root_ / table);
      std::string line;
      for (std::size_t i = 0; i < kMostLines && std::getline(lines, line); ++i) {
        // proc(5): the local address with its port in hexadecimal, the remote one, the state; 0A
        // is LISTEN.
        if (line.find(fmt::format(":{:04X} ", kFelixHealth)) == std::string::npos) continue;
        if (line.find(" 0A ") == std::string::npos) continue;
        const std::string why = fmt::format(
            "something listens on port {}, where Felix reports its health", kFelixHealth);
        const std::string base = fmt::format("http://localhost:{}", kFelixHealth);
        add("felix-live", "http", {{"url", base + "/liveness"}}, why);
        add("felix-ready", "http", {{"url", base + "/readiness"}}, why);
      }
    }
  }

  /// The size of supervise/status shows which supervisor it is.
  static std::optional<std::string> supervisor_of(const fs::path& service) {
    std::error_code error;
    switch (fs::file_size(service / "supervise/status", error)) {
      case 18: return "daemontools";
      case 20: return "runit";
      case 35:
      case 43: return "s6";
      default: return std::nullopt;
    }
  }

  void find_services(std::string_view folder) {
    std::error_code error;
    std::vector<fs::path> services;
    for (fs::directory_iterator entry(root_ / folder, error), end;
         !error && entry != end && services.size() < kMostServices; entry.increment(error)) {
      services.push_back(entry->path());
    }
    std::ranges::sort(services);
    for (const fs::path& service : services) {
      const auto kind = supervisor_of(service);
      if (!kind) continue;
      const std::string path = shown(fs::path(folder) / service.filename());
      add(names_.contains(clean(service.filename().string()))
              ? service.filename().string() + "-service"
              : service.filename().string(),
          *kind, {{"service", path}}, path);
    }
  }

  void find_units() {
    constexpr std::string_view kFolder = "run/systemd/units";
    std::error_code error;
    std::vector<std::string> units;
    for (fs::directory_iterator entry(root_ / kFolder, error), end; !error && entry != end;
         entry.increment(error)) {
      const std::string name = entry->path().filename().string();
      if (!name.starts_with(kInvocation) || !name.ends_with(".service")) continue;
      std::string unit = name.substr(kInvocation.size());
      const bool worth = std::ranges::any_of(
          kUnits, [&](std::string_view known) { return unit.starts_with(known); });
      if (worth && units.size() < kMostServices) units.push_back(std::move(unit));
    }
    std::ranges::sort(units);
    for (const std::string& unit : units) {
      const std::string name = unit.substr(0, unit.rfind('.'));
      add(names_.contains(clean(name)) ? name + "-unit" : name, "systemd", {{"unit", unit}},
          fmt::format("systemd has started {}", unit));
    }
  }

  const fs::path root_;
  std::vector<Found> found_;
  std::set<std::string> names_;
};

}  // namespace

std::vector<Found> detect(const std::string& root) {
  return Detector(root).run();
}

}  // namespace wardmote::cli
