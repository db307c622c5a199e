#include "config/sources.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/hash.h"
#include "base/result.h"
#include "base/text.h"
#include "config/files.h"
#include "config/problem.h"
#include "config/reader.h"
#include "config/yaml.h"

namespace wardmote::config {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostFiles = 256;

/// The sections whose keys the environment may override, by the beginning of the variables' names.
constexpr auto kOverridable = std::to_array<std::pair<std::string_view, std::string_view>>(
    {{"WARDMOTE_API_", "api"}, {"WARDMOTE_NODE_", "node"}});

/// Of the shell's patterns `*` and `?`; a leading dot is matched by a dot only.
bool matches(std::string_view pattern, std::string_view name) {
  if (name.starts_with('.') && !pattern.starts_with('.')) return false;
  // The last star, and how far it has reached: enough, since an earlier one never has to give back.
  std::size_t p = 0;
  std::size_t n = 0;
  std::optional<std::pair<std::size_t, std::size_t>> star;
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = {p++, n};
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == name[n])) {
      ++p;
      ++n;
    } else if (star) {
      p = star->first + 1;
      n = ++star->second;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

YamlEntry* find_entry(YamlNode& map, std::string_view key) {
  const auto found = std::ranges::find(map.entries, key, &YamlEntry::key);
  return found == map.entries.end() ? nullptr : &*found;
}

/// Reads files one after the other into one tree.
class Collector {
 public:
  Collector(Files& files, Problems& problems) : files_(files), problems_(problems) {}

  /// The first file, and what it includes.
  bool collect(const std::string& path) {
    const int file = problems_.add_file(path);
    sources_.footprint.emplace_back(path, files_.stamp(path));
    const Result<std::string> bytes = files_.read(path, room_);
    if (!bytes) {
      problems_.add({.file = file}, "file",
                    fmt::format("cannot be read: {}", escape_control(bytes.error().context)),
                    "check the path and its access rights");
      return false;
    }
    room_ -= bytes->size();
    hash_ = fnv1a(*bytes, hash_);
    YamlDocument document = parse_yaml(*bytes, {}, problems_, file);
    if (!document.complete) return false;
    YamlNode include;
    const bool includes = take_include(document.root, include);
    add(std::move(document.root), file);
    return !includes || follow(include, fs::path(path).parent_path());
  }

  Sources take(bool complete) && {
    sources_.complete = complete;
    if (!sources_.footprint.empty() && room_ < YamlLimits{}.bytes)
      sources_.hash = fmt::format("{:016x}", hash_);
    return std::move(sources_);
  }
  YamlNode& root() noexcept { return sources_.root; }

 private:
  static bool take_include(YamlNode& root, YamlNode& include) {
    const auto found = std::ranges::find(root.entries, "include", &YamlEntry::key);
    if (found == root.entries.end()) return false;
    include = std::move(found->value);
    root.entries.erase(found);
    return true;
  }

  bool follow(const YamlNode& include, const fs::path& folder) {
    bool complete = include.kind == YamlNode::Kind::kList;
    for (const Placed<std::string>& pattern : read_texts(include, "include", problems_)) {
      for (const std::string& path : resolve(pattern, folder, complete))
        complete = visit(path, pattern.at) && complete;
    }
    return complete;
  }

  /// The files that `pattern` names, in the order of their names.
  std::vector<std::string> resolve(const Placed<std::string>& pattern, const fs::path& folder,
                                   bool& complete) {
    const fs::path wanted = (folder / pattern.value).lexically_normal();
    const std::string last = wanted.filename();
    if (last.find_first_of("*?") == std::string::npos) return {wanted};
    const fs::path parent = wanted.has_parent_path() ? wanted.parent_path() : fs::path(".");
    // A file that comes or goes there is a change of the configuration.
    sources_.footprint.emplace_back(parent, files_.stamp(parent));
    const auto names = files_.list(parent);
    if (!names) {
      problems_.add(pattern.at, fmt::format("include '{}'", escape_control(pattern.value, 64)),
                    escape_control(names.error().context), "check the folder");
      complete = false;
      return {};
    }
    std::vector<std::string> paths;
    for (const std::string& name : *names) {
      if (matches(last, name)) paths.push_back(wanted.parent_path() / name);
    }
    return paths;
  }

  bool visit(const std::string& path, Place at) {
    const auto refuse = [&](std::string why, std::string fix) {
      problems_.add(at, fmt::format("include '{}'", escape_control(path, 128)), std::move(why),
                    std::move(fix));
      return false;
    };
    const std::optional<FileStamp> stamp = files_.stamp(path);
    if (!stamp) {
      sources_.footprint.emplace_back(path, stamp);
      return refuse("there is no such file", "correct the path, or write a pattern with '*'");
    }
    // By what it is, not by its name: a link leads in circles too.
    for (const auto& [earlier, seen] : sources_.footprint) {
      if (seen && seen->device == stamp->device && seen->inode == stamp->inode)
        return refuse(fmt::format("it is read already, as '{}'", escape_control(earlier, 128)),
                      "include every file once, and none from itself");
    }
    if (problems_.files().size() >= kMostFiles)
      return refuse(fmt::format("more than {} files", kMostFiles), "put more into one file");
    return collect(path);
  }

  void add(YamlNode added, int file) {
    if (file == 0) {
      sources_.root = std::move(added);
      return;
    }
    YamlNode& root = sources_.root;
    if (added.kind == YamlNode::Kind::kNull) return;
    if (added.kind != YamlNode::Kind::kMap) {
      problems_.add(added.at, "the file", fmt::format("it is {}, not a map", kind_name(added.kind)),
                    "write 'clusters:', 'checks:', 'gates:' or 'silences:' at its top");
      return;
    }
    // The first file may hold nothing but its includes.
    if (root.kind == YamlNode::Kind::kNull) root.kind = YamlNode::Kind::kMap;
    for (YamlEntry& entry : added.entries) {
      YamlEntry* const present = find_entry(root, entry.key);
      if (present == nullptr) {
        root.entries.push_back(std::move(entry));
      } else {
        merge(*present, std::move(entry));
      }
    }
  }

  void merge(YamlEntry& present, YamlEntry added) {
    using enum YamlNode::Kind;
    const bool lists =
        present.key == "clusters" || present.key == "checks" || present.key == "silences";
    if (lists && present.value.kind == kList && added.value.kind == kList) {
      std::ranges::move(added.value.items, std::back_inserter(present.value.items));
      return;
    }
    if (present.key != "gates" || present.value.kind != kMap || added.value.kind != kMap) {
      given_before(added, present);
      return;
    }
    for (YamlEntry& gate : added.value.entries) {
      if (const YamlEntry* const twin = find_entry(present.value, gate.key)) {
        given_before(gate, *twin);
      } else {
        present.value.entries.push_back(std::move(gate));
      }
    }
  }

  void given_before(const YamlEntry& entry, const YamlEntry& earlier) {
    problems_.add(entry.at, fmt::format("key '{}'", escape_control(entry.key, 64)),
                  fmt::format("given before, in {}", problems_.line_of(earlier.at, entry.at)),
                  "keep one of them");
  }

  Files& files_;
  Problems& problems_;
  Sources sources_;
  std::size_t room_ = YamlLimits{}.bytes;  ///< of all files together
  std::uint64_t hash_ = fnv1a("");
};

void override_with(YamlNode& root, const std::string& name, const std::string& value,
                   Problems& problems) {
  for (const auto& [prefix, section] : kOverridable) {
    std::string_view rest = name;
    if (!consume_prefix(rest, prefix)) continue;
    const Place at{.file = problems.add_file("$" + name)};
    std::string key(rest);
    std::ranges::transform(key, key.begin(),
                           [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    if (root.kind == YamlNode::Kind::kNull) root.kind = YamlNode::Kind::kMap;
    if (find_entry(root, section) == nullptr) {
      YamlEntry& added = root.entries.emplace_back();
      added.key = section;
      added.at = at;
      added.value.kind = YamlNode::Kind::kMap;
      added.value.at = at;
    }
    YamlNode& map = find_entry(root, section)->value;
    if (find_entry(map, key) == nullptr) map.entries.push_back({.key = key, .at = at, .value = {}});
    YamlEntry& entry = *find_entry(map, key);
    entry.at = at;
    entry.value = {.kind = YamlNode::Kind::kScalar, .at = at, .text = value};
  }
}

/// A service named `wardmote-api` in the cluster puts these into every pod beside it
/// (kubernetes.io, Accessing the Service, "Environment variables"): `…_SERVICE_HOST`,
/// `…_SERVICE_PORT[_NAME]`, and `…_PORT`, `…_PORT_9470_TCP[_PROTO|_PORT|_ADDR]` with `tcp://…` or
/// what is in it.
bool is_service_link(std::string_view key, std::string_view value) {
  if (key == "SERVICE_HOST" || key == "SERVICE_PORT" || key.starts_with("SERVICE_PORT_"))
    return true;
  if (key == "PORT") {
    return value.starts_with("tcp://") || value.starts_with("udp://") ||
           value.starts_with("sctp://");
  }
  std::string_view rest = key;
  if (!consume_prefix(rest, "PORT_")) return false;
  const std::string_view number = take_until(rest, '_');
  const std::string_view protocol = take_until(rest, '_');
  const bool of_port = parse_number<std::uint16_t>(number).has_value() &&
                       (protocol == "TCP" || protocol == "UDP" || protocol == "SCTP");
  return of_port && (rest.empty() || rest == "PROTO" || rest == "PORT" || rest == "ADDR");
}

/// The key after the beginning that stands for a section; empty when it is none of ours.
std::string_view overridden_key(std::string_view name) {
  for (const auto& [prefix, section] : kOverridable) {
    if (consume_prefix(name, prefix)) return name;
  }
  return {};
}

}  // namespace

std::vector<std::string> service_links(const char* const* environment) {
  std::vector<std::string> links;
  for (; *environment != nullptr; ++environment) {
    std::string_view value = *environment;
    const std::string_view name = take_until(value, '=');
    const std::string_view key = overridden_key(name);
    if (!key.empty() && is_service_link(key, value)) links.emplace_back(name);
  }
  std::ranges::sort(links);
  return links;
}

Environment overrides_of(const char* const* environment) {
  Environment found;
  for (; *environment != nullptr; ++environment) {
    std::string_view value = *environment;
    const std::string_view name = take_until(value, '=');
    const bool ours = std::ranges::any_of(
        kOverridable, [&](const auto& section) { return name.starts_with(section.first); });
    if (ours && !is_service_link(overridden_key(name), value)) found.emplace_back(name, value);
  }
  std::ranges::sort(found);
  return found;
}

Sources read_sources(Files& files, const std::string& path, const Environment& overrides,
                     Problems& problems) {
  Collector collector(files, problems);
  const bool complete = collector.collect(path);
  if (complete) {
    for (const auto& [name, value] : overrides)
      override_with(collector.root(), name, value, problems);
  }
  return std::move(collector).take(complete);
}

}  // namespace wardmote::config
