#include "config/reader.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/text.h"
#include "base/time.h"
#include "config/problem.h"
#include "config/yaml.h"
#include "runtime/endpoint.h"

namespace wardmote::config {
namespace {

constexpr std::size_t kLongestText = 4096;
constexpr std::size_t kLongestName = 63;
constexpr std::size_t kMostTexts = 1024;

std::string quote(std::string_view text) {
  return fmt::format("'{}'", escape_control(text, 64));
}

std::string named(std::string_view what, std::string_view text) {
  return fmt::format("{} {}", what, quote(text));
}

/// Whether `node` is a scalar; if not, that is the problem.
bool expect_scalar(const YamlNode& node, std::string_view what, std::string_view wanted,
                   std::string_view fix, Problems& problems) {
  if (node.kind == YamlNode::Kind::kScalar) return true;
  problems.add(node.at, std::string(what),
               fmt::format("it is {}, not {}", kind_name(node.kind), wanted), std::string(fix));
  return false;
}

/// Levenshtein's distance over two short words.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = std::exchange(row[j], std::min({row[j] + 1, row[j - 1] + 1, change}));
    }
  }
  return row.back();
}

}  // namespace

std::optional<std::string_view> did_you_mean(std::string_view word,
                                             const std::vector<std::string_view>& known) {
  if (word.size() > kLongestName) return std::nullopt;
  std::optional<std::string_view> nearest;
  std::size_t least = std::max<std::size_t>(1, word.size() / 3) + 1;
  for (const std::string_view candidate : known) {
    const std::size_t d = distance(word, candidate);
    if (d >= least) continue;
    least = d;
    nearest = candidate;
  }
  return nearest;
}

std::optional<std::string> read_text(const YamlNode& node, std::string_view what,
                                     Problems& problems) {
  if (!expect_scalar(node, what, "text", "write one value after the colon", problems)) {
    return std::nullopt;
  }
  if (node.text.empty()) {
    problems.add(node.at, std::string(what), "it is empty", "write a value or remove the key");
    return std::nullopt;
  }
  if (node.text.size() > kLongestText) {
    problems.add(node.at, std::string(what), fmt::format("longer than {} bytes", kLongestText),
                 "shorten it");
    return std::nullopt;
  }
  return node.text;
}

std::optional<std::int64_t> read_integer(const YamlNode& node, std::string_view what,
                                         Problems& problems) {
  constexpr std::string_view kFix = "write a whole number without quotes, for example 3";
  if (!expect_scalar(node, what, "a number", kFix, problems)) return std::nullopt;
  const auto number = node.quoted ? std::nullopt : parse_number<std::int64_t>(node.text);
  if (!number)
    problems.add(node.at, named(what, node.text), "not a whole number", std::string(kFix));
  return number;
}

std::optional<bool> read_flag(const YamlNode& node, std::string_view what, Problems& problems) {
  constexpr std::string_view kFix = "write true or false without quotes";
  if (!expect_scalar(node, what, "true or false", kFix, problems)) return std::nullopt;
  if (!node.quoted && node.text == "true") return true;
  if (!node.quoted && node.text == "false") return false;
  problems.add(node.at, named(what, node.text), "neither true nor false", std::string(kFix));
  return std::nullopt;
}

std::optional<Duration> read_duration(const YamlNode& node, std::string_view what,
                                      Problems& problems) {
  constexpr std::string_view kFix = "write a whole number and ms, s, m or h, for example 500ms";
  if (!expect_scalar(node, what, "a duration", kFix, problems)) return std::nullopt;
  if (const auto duration = parse_duration(node.text)) return duration;
  const bool bare = parse_number<std::int64_t>(node.text).has_value();
  problems.add(
      node.at, named(what, node.text), bare ? "no unit" : "not a duration",
      bare ? fmt::format("write {0}s or {0}ms", escape_control(node.text, 64)) : std::string(kFix));
  return std::nullopt;
}

std::optional<runtime::Endpoint> read_endpoint(const YamlNode& node, std::string_view what,
                                               Problems& problems) {
  constexpr std::string_view kFix =
      "write unix:/run/x.sock, tcp:10.0.0.1:6641, tcp:[::1]:6641 or ssl:10.0.0.1:6641";
  const auto text = read_text(node, what, problems);
  if (!text) return std::nullopt;
  const auto endpoint = runtime::parse_endpoint(*text);
  if (endpoint) return *endpoint;
  // The error repeats the address, which is named already.
  std::string_view why = endpoint.error().context;
  if (const std::size_t colon = why.rfind("': "); colon != std::string_view::npos) {
    why.remove_prefix(colon + 3);
  }
  problems.add(node.at, named(what, *text), escape_control(why), std::string(kFix));
  return std::nullopt;
}

std::vector<Placed<std::string>> read_texts(const YamlNode& node, std::string_view what,
                                            Problems& problems) {
  if (node.kind != YamlNode::Kind::kList) {
    problems.add(node.at, std::string(what),
                 fmt::format("it is {}, not a list", kind_name(node.kind)), "write [one, two]");
    return {};
  }
  if (node.items.size() > kMostTexts) {
    problems.add(node.at, std::string(what), fmt::format("more than {} items", kMostTexts),
                 "shorten the list");
    return {};
  }
  std::vector<Placed<std::string>> texts;
  for (const YamlNode& item : node.items) {
    auto text = read_text(item, fmt::format("item of {}", what), problems);
    if (text) texts.push_back({*std::move(text), item.at});
  }
  return texts;
}

std::optional<std::string> read_name(const YamlNode& node, std::string_view what,
                                     Problems& problems) {
  auto text = read_text(node, what, problems);
  if (!text) return std::nullopt;
  const auto alphanumeric = [](unsigned char c) { return c < 0x80 && std::isalnum(c) != 0; };
  const bool good =
      text->size() <= kLongestName && alphanumeric(static_cast<unsigned char>(text->front())) &&
      std::ranges::all_of(*text, [&](char c) {
        return alphanumeric(static_cast<unsigned char>(c)) || c == '.' || c == '_' || c == '-';
      });
  if (good) return text;
  problems.add(node.at, named(what, *text), "not a name",
               fmt::format("write up to {} letters, digits, '.', '_' and '-'", kLongestName));
  return std::nullopt;
}

MapReader::MapReader(const YamlNode& node, std::string what, Problems& problems)
    : node_(node), what_(std::move(what)), problems_(problems) {
  if (is_map()) return;
  problems_.add(node_.at, what_, fmt::format("it is {}, not a map", kind_name(node_.kind)),
                "write 'key: value' lines below it, or {key: value}");
}

const YamlNode* MapReader::find(std::string_view key) {
  also_known(key);
  const auto entry = std::ranges::find(node_.entries, key, &YamlEntry::key);
  return entry == node_.entries.end() ? nullptr : &entry->value;
}

void MapReader::also_known(std::string_view key) {
  if (std::ranges::find(known_, key) == known_.end()) known_.push_back(key);
}

const YamlNode* MapReader::require(std::string_view key, std::string_view example) {
  const YamlNode* const node = find(key);
  if (node == nullptr && is_map()) {
    problems_.add(node_.at, what_, fmt::format("no '{}'", key), fmt::format("add '{}'", example));
  }
  return node;
}

std::int64_t MapReader::read_integer_in(std::string_view key, std::int64_t least, std::int64_t most,
                                        std::int64_t otherwise) {
  const YamlNode* const node = find(key);
  if (node == nullptr) return otherwise;
  const auto number = read_integer(*node, key, problems_);
  if (!number) return otherwise;
  if (*number >= least && *number <= most) return *number;
  problems_.add(node->at, fmt::format("{} {}", key, *number), "out of range",
                fmt::format("write {} to {}", least, most));
  return otherwise;
}

Duration MapReader::read_duration_in(std::string_view key, Duration least, Duration most,
                                     Duration otherwise) {
  const YamlNode* const node = find(key);
  if (node == nullptr) return otherwise;
  const auto duration = read_duration(*node, key, problems_);
  if (!duration) return otherwise;
  if (*duration >= least && *duration <= most) return *duration;
  problems_.add(node->at, fmt::format("{} {}", key, node->text), "out of range",
                fmt::format("write {} to {}", spell_duration(least), spell_duration(most)));
  return otherwise;
}

std::vector<const YamlEntry*> MapReader::others() const {
  std::vector<const YamlEntry*> others;
  for (const YamlEntry& entry : node_.entries) {
    const bool asked_for = std::ranges::find(known_, entry.key) != known_.end();
    if (!asked_for) others.push_back(&entry);
  }
  return others;
}

void MapReader::finish() {
  for (const YamlEntry* const entry : others()) {
    const auto guess = did_you_mean(entry->key, known_);
    problems_.add(entry->at, fmt::format("unknown key {}", quote(entry->key)),
                  fmt::format("{} has no such key", what_),
                  guess ? fmt::format("did you mean '{}'?", *guess)
                        : fmt::format("it may have: {}", fmt::join(known_, ", ")));
  }
}

}  // namespace wardmote::config
