#include "config/import/draft.h"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <chrono>
#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/result.h"
#include "base/text.h"
#include "codec/yaml_text.h"
#include "config/config.h"
#include "config/import/fitting.h"
#include "config/import/format.h"
#include "config/import/secrets.h"
#include "config/import/text.h"
#include "config/problem.h"
#include "config/yaml.h"
#include "observe/kinds.h"

namespace wardmote::config {
namespace {

namespace json = boost::json;
using std::chrono::milliseconds;

constexpr std::size_t kMostChecks = 10'000;  // of a configuration
constexpr std::size_t kMostNotes = 2'000;    // nobody reads more
constexpr std::size_t kMostReasons = 20;     // in an error
constexpr std::size_t kLongestName = 63;
constexpr std::size_t kShortName = 56;  // with room for a number
constexpr milliseconds kLeastEvery{100};
constexpr milliseconds kLeastTimeout{10};
constexpr milliseconds kLongest = std::chrono::hours(24);
constexpr milliseconds kDefaultEvery{5000};
constexpr int kMostInARow = 1000;

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/// Letters, digits, '.', '_' and '-', beginning with a letter or a digit.
std::string as_name(std::string_view text) {
  std::string name;
  for (const char c : text) {
    const bool good = is_word(c) || c == '_' || c == '.' || (c == '-' && !name.ends_with('-'));
    if (good) {
      name += c;
    } else if (!name.empty() && !name.ends_with('-')) {
      name += '-';
    }
    if (name.size() == 1 && !is_word(name.front())) name.clear();
    if (name.size() == kLongestName) break;
  }
  while (name.ends_with('-') || name.ends_with('.')) name.pop_back();
  return name.empty() ? "check" : name;
}

}  // namespace

void ImportDraft::say(ForeignPlace at, std::string_view what, std::string_view says) {
  if (notes_.size() >= kMostNotes) {
    ++unsaid_;
    return;
  }
  std::string where;
  if (files_.size() > 1 && at.file < files_.size())
    where = escape_control(files_[at.file].name, 256) + ": ";
  if (at.line > 0) where += fmt::format("line {}: ", at.line);
  if (!what.empty()) where += escape_control(what, 128) + ": ";
  notes_.push_back(where + escape_control(says));
}

void ImportDraft::say(std::string_view says) {
  if (said_.emplace(says).second) notes_.push_back(escape_control(says));
}

std::string ImportDraft::Names::fresh(std::string_view wanted) {
  std::string name = as_name(wanted);
  if (taken.insert(name).second) return name;
  const std::string stem = name.substr(0, kShortName);
  std::size_t& number = next.emplace(stem, 1).first->second;
  do {
    name = fmt::format("{}-{}", stem, ++number);
  } while (!taken.insert(name).second);
  return name;
}

std::optional<std::string> ImportDraft::add_check(ForeignPlace at, ImportedCheck check) {
  if (const auto fault = misfit(check.kind, check.params)) {
    say(at, check.name, fmt::format("left out: {}", *fault));
    return std::nullopt;
  }
  if (params_may_hold_a_secret(check.params)) {
    say(at, check.name,
        check.kind == "exec"
            ? "left out: an argument may be a password, which the configuration and ps would show: "
              "have the plugin read it from a file"
            : "left out: its address, a header or a text may hold a credential, which is not "
              "copied");
    return std::nullopt;
  }
  if (checks_.size() > kMostChecks) return std::nullopt;  // finish() says so
  make_time(at, check);
  json::object made;
  std::string name = check_names_.fresh(check.name);
  made["name"] = name;
  made[check.kind] = std::move(check.params);
  const milliseconds every = std::clamp(check.every.value_or(kDefaultEvery), kLeastEvery, kLongest);
  if (check.every) made["every"] = spell(every);
  if (check.timeout) made["timeout"] = spell(std::clamp(*check.timeout, kLeastTimeout, every));
  if (check.fall) made["fall"] = std::clamp(*check.fall, 1, kMostInARow);
  if (check.rise) made["rise"] = std::clamp(*check.rise, 1, kMostInARow);
  if (check.optional) made["optional"] = true;
  checks_.emplace_back(std::move(made));
  return name;
}

/// No look of ours is longer than the interval. One that was cut short would call `hung` what is
/// good there, so the interval grows, and `fall` is such that no failure is reported sooner.
void ImportDraft::make_time(ForeignPlace at, ImportedCheck& check) {
  const milliseconds every = std::clamp(check.every.value_or(kDefaultEvery), kLeastEvery, kLongest);
  if (!check.timeout || *check.timeout <= every) return;
  const milliseconds longer = std::min(*check.timeout, kLongest);
  const auto waits = every.count() * (check.fall.value_or(1) - 1);
  if (check.fall) check.fall = 1 + static_cast<int>((waits + longer.count() - 1) / longer.count());
  check.every = longer;
  say(at, check.name,
      fmt::format("every: {} and not {}, since a look may last as long as its timeout: write a "
                  "shorter `timeout` to look more often",
                  spell(longer), spell(every)));
}

void ImportDraft::depend(std::string_view check, std::string_view above) {
  if (check != above) above_[std::string(check)].emplace(above);
}

/// By name, how many checks above each are in a circle, or below one: what is left when checks
/// without anything above them are taken away, again and again.
std::map<std::string_view, std::size_t> ImportDraft::in_circles() const {
  std::map<std::string_view, std::size_t> open;
  std::map<std::string_view, std::vector<std::string_view>> below;
  for (const auto& [check, above] : above_) {
    open[check] += above.size();
    for (const std::string& one : above) {
      below[one].push_back(check);
      open.try_emplace(one, 0);
    }
  }
  std::vector<std::string_view> free;
  for (const auto& [check, count] : open) {
    if (count == 0) free.push_back(check);
  }
  while (!free.empty()) {
    const std::string_view one = free.back();
    free.pop_back();
    for (const std::string_view check : below[one]) {
      if (--open[check] == 0) free.push_back(check);
    }
  }
  return open;
}

void ImportDraft::join_dependencies() {
  auto open = in_circles();
  for (json::value& check : checks_) {
    const auto found = above_.find(std::string_view(check.as_object()["name"].as_string()));
    if (found == above_.end()) continue;
    json::array names;
    for (const std::string& one : found->second) {
      if (open[one] == 0) names.emplace_back(one);
    }
    if (names.size() < found->second.size())
      say({}, found->first, "what it depends on goes in a circle: left out");
    if (!names.empty()) check.as_object()["depends_on"] = std::move(names);
  }
}

void ImportDraft::add_receiver(std::string_view name, std::string_view type, json::object options) {
  receivers_.emplace_back(
      json::object{{"name", receiver_names_.fresh(name)}, {type, std::move(options)}});
}

Result<Imported> ImportDraft::finish() && {
  if (checks_.size() > kMostChecks)
    return fail(Errc::kLimit, "more than {} checks: split the work over several agents",
                kMostChecks);
  if (checks_.empty() && !root_.contains("clusters")) {
    // Receivers alone are no configuration.
    if (notes_.size() > kMostReasons) notes_.resize(kMostReasons);
    return fail(Errc::kInvalid, "nothing in it can be translated{}{}", notes_.empty() ? "" : ": ",
                fmt::join(notes_, "; "));
  }
  join_dependencies();
  if (!checks_.empty()) root_["checks"] = std::move(checks_);
  if (!receivers_.empty()) root_["notify"].emplace_object()["receivers"] = std::move(receivers_);
  if (unsaid_ > 0) notes_.push_back(fmt::format("{} further notes are left out", unsaid_));
  Imported made{codec::yaml_text(root_), std::move(notes_)};
  Problems problems;
  if (!parse_yaml(made.yaml, YamlLimits{}, problems).complete)
    return fail(Errc::kLimit, "too much for the configuration of one agent: split it");
  // A last look, so that nobody is given what the agent refuses.
  const auto accepted = parse_config(made.yaml, observe::probe_kinds());
  if (!accepted)
    return fail(Errc::kInvalid, "the agent would refuse what came out: {}",
                describe("import", accepted.error().front()));
  return made;
}

}  // namespace wardmote::config
