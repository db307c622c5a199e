#include "config/import/prometheus_targets.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/text.h"
#include "config/import/draft.h"
#include "config/import/foreign_yaml.h"
#include "config/import/text.h"
#include "config/yaml.h"

namespace wardmote::config {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kInterval{60'000};  // Prometheus' defaults
constexpr milliseconds kTimeout{10'000};
constexpr std::size_t kMostRules = 100;
constexpr std::size_t kMostTargets = 20'000;
constexpr std::size_t kLongestValue = 4000;

/// Actions of relabelling that choose among targets, and that make another value of a label.
constexpr auto kChoices =
    std::to_array<std::string_view>({"keep", "drop", "keepequal", "dropequal"});
constexpr auto kChanges = std::to_array<std::string_view>({"lowercase", "uppercase", "hashmod"});

/// Nothing: it cannot be known here.
using LabelValue = std::optional<std::string>;
using Labels = std::map<std::string, LabelValue, std::less<>>;

struct Rule {
  std::vector<std::string> sources;
  std::string separator;
  std::string target;
  std::string replacement;
  bool whole = true;  ///< its expression takes the whole value as the first group
  bool some = false;  ///< it does nothing where the value is empty: `(.+)`
};

/// `$1` and `${1}` are the value; any other `$` is too much.
LabelValue replaced(std::string_view replacement, const std::string& value) {
  std::string result;
  while (!replacement.empty()) {
    if (consume_prefix(replacement, "$1") || consume_prefix(replacement, "${1}")) {
      result += value;
      continue;
    }
    if (replacement.front() == '$') return std::nullopt;
    result += replacement.front();
    replacement.remove_prefix(1);
  }
  if (result.size() > kLongestValue) return std::nullopt;
  return result;
}

LabelValue get(const Labels& labels, std::string_view name) {
  const auto found = labels.find(name);
  return found == labels.end() ? LabelValue("") : found->second;
}

void apply(const Rule& rule, Labels& labels) {
  std::string joined;
  bool known = rule.whole;
  for (std::size_t i = 0; i < rule.sources.size(); ++i) {
    const LabelValue value = get(labels, rule.sources[i]);
    if (i > 0) joined += rule.separator;
    joined += value.value_or("");
    known = known && value.has_value();
  }
  if (rule.some && known && joined.empty()) return;
  labels[rule.target] = known ? replaced(rule.replacement, joined) : std::nullopt;
}

class JobReader {
 public:
  JobReader(ImportDraft& draft, std::size_t file, const YamlNode& root, const YamlNode& job,
            std::vector<ProbeTarget>& targets)
      : draft_(draft), file_(file), job_(job), targets_(targets) {
    title_ = "job " + text_at(job, "job_name").value_or("without a name");
    every_ = duration(root, "scrape_interval", kInterval);
    timeout_ = duration(root, "scrape_timeout", kTimeout);
  }

  void read() {
    if (!read_rules()) return;
    if (const YamlNode* const fixed = child(job_, "static_configs")) {
      for (const YamlNode& group : fixed->items) read_group(group);
    }
    for (const YamlEntry& entry : job_.entries) {
      if (entry.key.ends_with("_sd_configs"))
        say(entry.at, fmt::format("{}: its targets are not in this file: write a check for each",
                                  escape_control(entry.key, 64)));
    }
  }

 private:
  void say(Place at, std::string_view what) {
    draft_.say({file_, static_cast<std::size_t>(at.line)}, title_, what);
  }

  [[nodiscard]] milliseconds duration(const YamlNode& root, std::string_view key,
                                      milliseconds otherwise) const {
    auto text = text_at(job_, key);
    if (!text) text = text_at(root, fmt::format("global.{}", key));
    return text ? foreign_duration(*text).value_or(otherwise) : otherwise;
  }

  /// False, after a note: which targets there are cannot be known.
  bool read_rules() {
    const YamlNode* const list = child(job_, "relabel_configs");
    if (list == nullptr) return true;
    if (list->items.size() > kMostRules) {
      say(list->at, "left out: more than 100 rules of relabelling");
      return false;
    }
    for (const YamlNode& item : list->items) {
      const std::string action = lower(text_at(item, "action").value_or("replace"));
      if (std::ranges::find(kChoices, action) != kChoices.end()) {
        say(item.at,
            fmt::format("left out: relabelling with '{}' chooses among the targets", action));
        return false;
      }
      const bool is_copy = action == "replace";
      if (!is_copy && std::ranges::find(kChanges, action) == kChanges.end()) continue;
      rules_.push_back(rule_of(item));
      rules_.back().whole = rules_.back().whole && is_copy;
    }
    return true;
  }

  static Rule rule_of(const YamlNode& item) {
    Rule rule{.sources = texts_at(item, "source_labels"),
              .separator = text_at(item, "separator").value_or(";"),
              .target = text_at(item, "target_label").value_or(""),
              .replacement = text_at(item, "replacement").value_or("$1")};
    const std::string regex = text_at(item, "regex").value_or("(.*)");
    rule.some = regex == "(.+)";
    rule.whole =
        regex == "(.*)" || regex == "(.+)" || (regex == ".*" && !rule.replacement.contains('$'));
    return rule;
  }

  void read_group(const YamlNode& group) {
    Labels labels;
    for (const std::string_view key : {"module", "target", "hostname"}) {
      const auto values = texts_at(job_, fmt::format("params.{}", key));
      if (!values.empty()) labels[fmt::format("__param_{}", key)] = values.front();
    }
    if (const YamlNode* const own = child(group, "labels")) {
      for (const YamlEntry& entry : own->entries) labels[entry.key] = entry.value.text;
    }
    const YamlNode* const list = child(group, "targets");
    if (list == nullptr) return;
    for (const YamlNode& item : list->items) {
      if (targets_.size() > kMostTargets) return;  // more than a configuration has checks
      read_target(item, labels);
    }
  }

  void read_target(const YamlNode& item, Labels labels) {
    labels["__address__"] = item.text;
    for (const Rule& rule : rules_) apply(rule, labels);
    const LabelValue target = get(labels, "__param_target");
    const LabelValue module = get(labels, "__param_module");
    const LabelValue hostname = get(labels, "__param_hostname");
    if (!target || !module || !hostname || target->empty()) {
      return say(item.at,
                 "a target is left out: its relabelling is more than copying and putting "
                 "together, or makes no __param_target");
    }
    targets_.push_back({{file_, static_cast<std::size_t>(item.at.line)},
                        module->empty() ? "http_2xx" : *module,
                        *target,
                        *hostname,
                        every_,
                        timeout_});
  }

  ImportDraft& draft_;
  const std::size_t file_;
  const YamlNode& job_;
  std::vector<ProbeTarget>& targets_;
  std::string title_;
  std::vector<Rule> rules_;
  milliseconds every_{};
  milliseconds timeout_{};
};

bool asks_blackbox(const YamlNode& job) {
  return text_at(job, "metrics_path").value_or("").ends_with("/probe") ||
         below(job, "params.module") != nullptr;
}

}  // namespace

std::vector<ProbeTarget> read_probe_targets(ImportDraft& draft, std::size_t file,
                                            const YamlNode& root) {
  std::vector<ProbeTarget> targets;
  std::size_t others = 0;
  const YamlNode* const jobs = child(root, "scrape_configs");
  if (jobs == nullptr) return targets;
  for (const YamlNode& job : jobs->items) {
    if (asks_blackbox(job)) {
      JobReader(draft, file, root, job, targets).read();
    } else {
      ++others;
    }
  }
  if (others > 0)
    draft.say({file, 0}, "", fmt::format("{} jobs do not ask blackbox_exporter: left out", others));
  if (child(root, "alerting") != nullptr)
    draft.say({file, 0}, "alerting", "add a receiver `alertmanager` (docs/notifications.md)");
  if (child(root, "rule_files") != nullptr)
    draft.say({file, 0}, "rule_files",
              "no counterpart is needed: a check reports by itself after `fall` failures in a row");
  return targets;
}

}  // namespace wardmote::config
