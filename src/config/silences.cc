#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/format.h"
#include "base/text.h"
#include "base/time.h"
#include "base/utc.h"
#include "config/config.h"
#include "config/problem.h"
#include "config/reader.h"
#include "config/sections.h"
#include "config/yaml.h"
#include "judge/notify/muting.h"

namespace wardmote::config {
namespace {

using judge::notify::Silence;

constexpr Duration kLongest = std::chrono::days(365);

std::optional<WallTime> read_moment(const YamlNode& node, std::string_view what,
                                    Problems& problems) {
  const auto text = read_text(node, what, problems);
  if (!text) return std::nullopt;
  if (const auto at = parse_utc(*text)) return at;
  problems.add(node.at, fmt::format("{} '{}'", what, escape_control(*text, 64)),
               "not a moment in UTC", "write for example 2026-11-21T04:00:00Z");
  return std::nullopt;
}

Silence read_silence(const YamlNode& node, std::size_t number, Names& names, const Node& own,
                     Problems& problems) {
  MapReader map(node, fmt::format("silence {}", number), problems);
  Silence silence;
  if (const YamlNode* const name = map.require("name", "name: upgrade")) {
    silence.name = read_name(*name, "name", problems).value_or("");
    if (!silence.name.empty()) names.add(silence.name, name->at, problems);
  }
  if (map.require("match", "match: [\"root=cluster:ovn-nb\"]") != nullptr) {
    silence.match = read_matchers(map, own);
    // Whoever wants to hear of nothing at all says so: root=*.
    const YamlNode* const match = map.find("match");
    if (match->kind == YamlNode::Kind::kList && match->items.empty()) {
      problems.add(match->at, "match", "it matches nothing in particular",
                   "write for example root=cluster:ovn-nb, or root=* for everything");
    }
  }
  const auto from = map.read_required("from", "from: 2026-11-21T02:00:00Z", read_moment);
  const auto until = map.read_required("until", "until: 2026-11-21T04:00:00Z", read_moment);
  silence.comment = map.read("comment", read_text).value_or("");
  silence.by = "the configuration";
  map.finish();
  if (!from || !until) return silence;
  silence.from = *from;
  silence.until = *until;
  if (*until <= *from) {
    problems.add(map.at(), map.what(), "it ends before it begins", "write a later 'until'");
  } else if (*until - *from > kLongest) {
    problems.add(map.at(), map.what(), "it lasts longer than a year",
                 "write an earlier 'until', or a 'maintenance' of the week in 'notify'");
  }
  return silence;
}

}  // namespace

std::vector<Silence> read_silences(const YamlNode& list, const Node& own, Problems& problems) {
  std::vector<Silence> silences;
  if (list.kind != YamlNode::Kind::kList) {
    problems.add(list.at, "silences", "not a list", "write '- {...}' lines below it");
    return silences;
  }
  Names names;
  silences.reserve(list.items.size());
  for (const YamlNode& item : list.items) {
    silences.push_back(read_silence(item, silences.size() + 1, names, own, problems));
  }
  return silences;
}

}  // namespace wardmote::config
