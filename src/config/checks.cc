#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/text.h"
#include "config/config.h"
#include "config/problem.h"
#include "config/reader.h"
#include "config/sections.h"
#include "config/yaml.h"
#include "observe/kinds.h"
#include "runtime/endpoint.h"

namespace wardmote::config {
namespace {

using namespace std::chrono_literals;
using observe::ParamSpec;
using observe::ParamType;
using observe::ParamValue;
using observe::ProbeKind;

constexpr std::size_t kMostChecks = 10'000;
constexpr ScheduleDefaults kDefaults{.every = 5s, .fall = 3, .rise = 2};

template <class T>
std::optional<ParamValue> as_param(std::optional<T> value) {
  if (!value) return std::nullopt;
  return ParamValue(*std::move(value));
}

std::optional<ParamValue> read_param(const YamlNode& node, const ParamSpec& spec,
                                     Problems& problems) {
  switch (spec.type) {
    case ParamType::kText: return as_param(read_text(node, spec.name, problems));
    case ParamType::kInteger: return as_param(read_integer(node, spec.name, problems));
    case ParamType::kDuration: return as_param(read_duration(node, spec.name, problems));
    case ParamType::kFlag: return as_param(read_flag(node, spec.name, problems));
    case ParamType::kEndpoint: {
      const auto endpoint = read_endpoint(node, spec.name, problems);
      if (!endpoint) return std::nullopt;
      return ParamValue(to_string(*endpoint));
    }
    case ParamType::kList: {
      std::vector<std::string> list;
      for (Placed<std::string>& text : read_texts(node, spec.name, problems)) {
        list.push_back(std::move(text.value));
      }
      return ParamValue(std::move(list));
    }
  }
  return std::nullopt;
}

observe::Params read_params(const YamlNode& node, const ProbeKind& kind, Problems& problems) {
  MapReader map(node, std::string(kind.name), problems);
  observe::Params params;
  for (const ParamSpec& spec : kind.params) {
    const YamlNode* value = nullptr;
    if (spec.required) {
      value = map.require(spec.name, fmt::format("{}: ...", spec.name));
    } else {
      value = map.find(spec.name);
    }
    if (value == nullptr) continue;
    if (auto param = read_param(*value, spec, problems))
      params.emplace(spec.name, *std::move(param));
  }
  map.finish();
  return params;
}

/// Finds the one key of a check that is the name of a kind, and reads the parameters below it.
void read_kind(MapReader& map, std::span<const ProbeKind> kinds, Check& check) {
  for (const ProbeKind& kind : kinds) {
    const YamlNode* const params = map.find(kind.name);
    if (params == nullptr) continue;
    if (check.kind != nullptr) {
      map.problems().add(params->at, fmt::format("'{}'", kind.name),
                         fmt::format("this check is of kind '{}' already", check.kind->name),
                         "make it a check of its own");
      continue;
    }
    check.kind = &kind;
    check.params = read_params(*params, kind, map.problems());
  }
  if (check.kind != nullptr || !map.is_map()) return;
  std::vector<std::string_view> names;
  for (const ProbeKind& kind : kinds) names.push_back(kind.name);
  map.problems().add(map.at(), map.what(), "it does not say what to look at",
                     fmt::format("add one of: {}", fmt::join(names, ", ")));
}

Check read_check(const YamlNode& node, std::size_t number, std::span<const ProbeKind> kinds,
                 Names& names, Problems& problems) {
  const std::size_t before = problems.count();
  MapReader map(node, fmt::format("check {}", number), problems);
  Check check;
  check.at = map.at();
  if (const YamlNode* const name = map.require("name", "name: bird")) {
    check.name = read_name(*name, "name", problems).value_or("");
    if (!check.name.empty()) names.add(check.name, name->at, problems);
  }
  check.schedule = read_schedule(map, kDefaults);
  read_kind(map, kinds, check);
  if (const YamlNode* const above = map.find("depends_on")) {
    for (Placed<std::string>& name : read_texts(*above, "depends_on", problems)) {
      check.depends_on.push_back(std::move(name.value));
    }
  }
  map.finish();
  check.whole = problems.count() == before;
  return check;
}

/// Follows `depends_on` upwards, and reports each circle once, at one of its checks.
class Circles {
 public:
  Circles(const std::vector<Check>& checks, Problems& problems) : problems_(problems) {
    for (const Check& check : checks) checks_.emplace(check.name, &check);
  }

  void look_from(const Check& check) {
    if (!seen_.insert(&check).second) return;
    path_.push_back(&check);
    for (const std::string& name : check.depends_on) {
      const auto upper = checks_.find(name);
      // What depends on itself is told of by name already.
      if (upper == checks_.end() || upper->second == &check) continue;
      const auto begin = std::ranges::find(path_, upper->second);
      if (begin != path_.end()) {
        report({begin, path_.end()});
      } else {
        look_from(*upper->second);
      }
    }
    path_.pop_back();
  }

 private:
  void report(const std::vector<const Check*>& circle) {
    std::string names;
    for (const Check* const check : circle) names += check->name + " -> ";
    problems_.add(circle.front()->at, "depends_on",
                  fmt::format("it goes in a circle: {}{}", names, circle.front()->name),
                  "remove one of them: what fails cannot be its own cause");
  }

  Problems& problems_;
  std::map<std::string_view, const Check*> checks_;
  std::set<const Check*> seen_;
  std::vector<const Check*> path_;
};

}  // namespace

void check_dependencies(const std::vector<Check>& checks, const Names& names, Problems& problems) {
  for (const Check& check : checks) {
    for (const std::string& name : check.depends_on) {
      if (names.contains(name) && name != check.name) continue;
      problems.add(check.at, fmt::format("depends_on '{}'", escape_control(name, 64)),
                   name == check.name ? "a check cannot depend on itself"
                                      : "no check or cluster has this name",
                   "define it or remove it here");
    }
  }
  Circles circles(checks, problems);
  for (const Check& check : checks) circles.look_from(check);
}

std::vector<Check> read_checks(const YamlNode& list, std::span<const ProbeKind> kinds, Names& names,
                               Problems& problems) {
  std::vector<Check> checks;
  if (list.kind != YamlNode::Kind::kList || list.items.size() > kMostChecks) {
    problems.add(list.at, "checks", fmt::format("not a list of at most {} checks", kMostChecks),
                 "write '- {name: ..., KIND: {...}}' lines below it");
    return checks;
  }
  checks.reserve(list.items.size());
  for (const YamlNode& item : list.items) {
    checks.push_back(read_check(item, checks.size() + 1, kinds, names, problems));
  }
  return checks;
}

}  // namespace wardmote::config
