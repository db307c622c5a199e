#include "config/import/blackbox.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <expected>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/result.h"
#include "base/text.h"
#include "config/import/blackbox_modules.h"
#include "config/import/draft.h"
#include "config/import/foreign_yaml.h"
#include "config/import/format.h"
#include "config/import/prometheus_targets.h"
#include "config/import/text.h"
#include "config/yaml.h"

namespace wardmote::config {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kOffset{500};  // blackbox_exporter's --timeout-offset
constexpr std::size_t kMostModules = 1'000;

/// `modules:` or `scrape_configs:` at the left edge.
bool has_key(std::string_view text, std::string_view key) {
  while (!text.empty()) {
    std::string_view line = take_until(text, '\n');
    if (consume_prefix(line, key) && trim(line).starts_with(':')) return true;
  }
  return false;
}

struct Files {
  std::map<std::string, BlackboxModule, std::less<>> modules;
  std::set<std::string, std::less<>> names;  ///< also of modules that are left out
  std::vector<ProbeTarget> targets;
  bool with_targets = false;
};

void read_modules(ImportDraft& draft, std::size_t file, const YamlNode& modules, Files& into) {
  for (const YamlEntry& entry : modules.entries) {
    if (!into.names.insert(entry.key).second) continue;
    const ForeignPlace at{file, static_cast<std::size_t>(entry.at.line)};
    if (auto module = read_blackbox_module(draft, at, entry.key, entry.value))
      into.modules.emplace(entry.key, *std::move(module));
  }
}

Result<Files> read_files(ImportDraft& draft, std::span<const ForeignFile> files) {
  Files into;
  for (std::size_t i = 0; i < files.size(); ++i) {
    const auto root = read_foreign_yaml(files[i]);
    if (!root) return std::unexpected(root.error());
    const YamlNode* const modules = child(*root, "modules");
    const YamlNode* const jobs = child(*root, "scrape_configs");
    if (modules == nullptr && jobs == nullptr) {
      return fail(Errc::kInvalid, "{}: neither modules of blackbox_exporter nor scrape_configs",
                  escape_control(files[i].name));
    }
    if (modules != nullptr) read_modules(draft, i, *modules, into);
    if (jobs == nullptr) continue;
    into.with_targets = true;
    auto targets = read_probe_targets(draft, i, *root);
    std::ranges::move(targets, std::back_inserter(into.targets));
  }
  if (into.names.size() > kMostModules)
    return fail(Errc::kLimit, "more than {} modules", kMostModules);
  return into;
}

/// The parameter `hostname` of a probe.
void name_host(ImportedCheck& check, const std::string& hostname) {
  if (hostname.empty()) return;
  if (check.kind == "http" || check.kind == "https") {
    boost::json::value& headers = check.params["header"];
    if (headers.is_null()) headers.emplace_array();
    const bool has_host = std::ranges::any_of(headers.get_array(), [](const auto& line) {
      return lower(std::string_view(line.get_string())).starts_with("host:");
    });
    if (!has_host) headers.get_array().emplace_back("Host: " + hostname);
  }
  if ((check.kind == "https" || check.kind == "tls") && !check.params.contains("server_name"))
    check.params["server_name"] = hostname;
}

void add_target(ImportDraft& draft, const Files& files, const ProbeTarget& target) {
  const auto module = files.modules.find(target.module);
  if (module == files.modules.end()) {
    const bool left_out = files.names.contains(target.module);
    return draft.say(target.at, "module " + target.module,
                     left_out ? "a target is left out with it"
                              : "a target is left out: no file has this module; name blackbox.yml, "
                                "too");
  }
  auto check = check_of_module(draft, target.at, module->second, target.target);
  if (!check) return;
  name_host(*check, target.hostname);
  const milliseconds most = std::max(target.timeout - kOffset, kOffset);
  check->every = target.every;
  check->timeout = std::min(module->second.timeout.value_or(most), most);
  if (check->timeout == milliseconds(0)) check->timeout = most;
  draft.add_check(target.at, *std::move(check));
}

/// A name that never resolves (RFC 6761 6.4), so nobody takes it for a target.
constexpr std::string_view kNobody = "target.invalid";

std::string placeholder_of(const BlackboxModule& module) {
  if (module.prober == "http")
    return fmt::format("{}://{}/", module.ssl_required || !module.tls.empty() ? "https" : "http",
                       kNobody);
  if (module.prober == "tcp") return fmt::format("{}:{}", kNobody, module.with_tls ? 443 : 80);
  return std::string(kNobody);
}

void add_placeholders(ImportDraft& draft, const Files& files) {
  for (const auto& [name, module] : files.modules) {
    auto check = check_of_module(draft, module.at, module, placeholder_of(module));
    if (!check) continue;
    check->name = name;
    check->timeout = module.timeout;
    if (module.timeout) check->every = std::max(*module.timeout, milliseconds(5000));
    check->optional = true;
    draft.add_check(module.at, *std::move(check));
  }
  if (draft.checks() > 0)
    draft.say(
        "no file has targets: write them in place of target.invalid and remove `optional`, or "
        "name the prometheus.yml that has the jobs, too");
}

void say_redirects(ImportDraft& draft, const Files& files) {
  const bool any = std::ranges::any_of(files.modules, [](const auto& one) {
    return one.second.prober == "http" && one.second.params.at("redirects") != 0;
  });
  if (any && draft.checks() > 0)
    draft.say(
        "redirects are followed on the same host and scheme only: where a target redirects "
        "elsewhere, as from http to https, write where it leads");
}

}  // namespace

bool is_blackbox(std::string_view text) {
  return (has_key(text, "modules") && text.contains("prober")) || has_key(text, "scrape_configs");
}

Result<Imported> import_blackbox(std::span<const ForeignFile> files) {
  ImportDraft draft(files);
  const auto read = read_files(draft, files);
  if (!read) return std::unexpected(read.error());
  if (read->with_targets) {
    std::set<std::string_view> used;
    for (const ProbeTarget& target : read->targets) {
      used.insert(target.module);
      add_target(draft, *read, target);
    }
    for (const auto& [name, module] : read->modules) {
      if (!used.contains(name)) draft.say(module.at, "module " + name, "no job uses it: left out");
    }
  } else {
    add_placeholders(draft, *read);
  }
  say_redirects(draft, *read);
  return std::move(draft).finish();
}

}  // namespace wardmote::config
