#include "cli/doctor/rights.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <boost/json/value.hpp>

#include "base/format.h"
#include "cli/render/fields.h"

namespace wardmote::cli {
namespace {

namespace json = boost::json;
using Manager = AgentProcess::Manager;

constexpr std::string_view kDenied = "denied";
constexpr std::string_view kDropIn = "/usr/share/wardmote/systemd/root-sockets.conf";
constexpr std::string_view kFlagFile = "/etc/wardmote/root-sockets";

/// Who can pass every folder of a way.
struct Passage {
  bool only_root = false;
  std::set<std::string, std::less<>> groups;
};

/// What opening needs: connecting to a socket and opening a FIFO need write permission.
std::uint32_t needed(WayPart::Kind kind) noexcept {
  switch (kind) {
    case WayPart::Kind::kFolder: return 01;
    case WayPart::Kind::kSocket:
    case WayPart::Kind::kFifo: return 02;
    case WayPart::Kind::kOther: return 04;
  }
  return 04;
}

void pass(const RefusedFile& file, Passage& passage) {
  // A folder that cannot be read from here is behind one that only root may enter.
  if (file.way.empty()) passage.only_root = true;
  for (const WayPart& part : file.way) {
    const std::uint32_t bit = needed(part.kind);
    if ((part.mode & bit) != 0) continue;
    // Membership in root's own group is no way to open a single socket.
    const bool by_group =
        (part.mode >> 3 & bit) != 0 && part.group != 0 && !part.group_name.empty();
    if (by_group) {
      passage.groups.insert(part.group_name);
    } else {
      passage.only_root = true;
    }
  }
}

std::string restart(Manager manager) {
  switch (manager) {
    case Manager::kSystemd: return "systemctl restart wardmoted";
    case Manager::kRunit: return "sv restart wardmoted";
    case Manager::kS6: return "s6-svc -r /run/service/wardmoted";
    case Manager::kUnknown: return {};
  }
  return {};
}

std::string grant_root_sockets(const AgentProcess& agent) {
  switch (agent.manager) {
    case Manager::kSystemd:
      return fmt::format(
          "install -D -m 644 {} -t /etc/systemd/system/wardmoted.service.d && "
          "systemctl daemon-reload && {}",
          kDropIn, restart(agent.manager));
    case Manager::kRunit:
    case Manager::kS6: return fmt::format("touch {} && {}", kFlagFile, restart(agent.manager));
    case Manager::kUnknown: break;
  }
  return fmt::format(
      "start the agent as: setpriv --reuid {0} --regid {0} --init-groups "
      "--inh-caps=+dac_override --ambient-caps=+dac_override wardmoted",
      agent.user);
}

void add_path(const Fields& look, std::vector<std::string>& paths) {
  if (look.raw("reason") != kDenied) return;
  const std::string path = path_in(look.raw("detail"));
  if (!path.empty() && std::ranges::find(paths, path) == paths.end()) paths.push_back(path);
}

}  // namespace

std::string path_in(std::string_view words) {
  for (std::size_t at = words.find('/'); at != std::string_view::npos;
       at = words.find('/', at + 1)) {
    const bool begins = at == 0 || words[at - 1] == ' ' || words[at - 1] == ':' ||
                        words[at - 1] == '\'' || words[at - 1] == '(';
    const bool address = words.substr(at).starts_with("//");
    if (address) {
      // The path in an address is not a file of this machine.
      at = std::min(words.find(' ', at), words.size()) - 1;
      continue;
    }
    if (!begins) continue;
    const std::size_t end = std::min(words.find_first_of(" ',)", at), words.size());
    std::string_view path = words.substr(at, end - at);
    while (path.ends_with(':') || path.ends_with('.')) path.remove_suffix(1);
    return std::string(path);
  }
  return {};
}

std::vector<std::string> refused_paths(const json::value& value) {
  const Fields status(value);
  std::vector<std::string> paths;
  for (const json::value& check : status.list("checks")) add_path(Fields(check), paths);
  for (const json::value& cluster : status.list("clusters")) {
    for (const json::value& member : Fields(cluster).list("members"))
      add_path(Fields(member), paths);
  }
  return paths;
}

std::string remedy(std::span<const RefusedFile> files, const AgentProcess& agent) {
  Passage passage;
  for (const RefusedFile& file : files) pass(file, passage);
  if (passage.only_root) return grant_root_sockets(agent);
  if (passage.groups.empty()) {
    return "its permissions would let the agent in: look for AppArmor or SELinux in the kernel's "
           "log, journalctl -k";
  }
  const std::string groups =
      fmt::format("usermod -aG {} {}", fmt::join(passage.groups, ","), agent.user);
  const std::string again = restart(agent.manager);
  return again.empty() ? groups + ", then restart the agent" : groups + " && " + again;
}

}  // namespace wardmote::cli
