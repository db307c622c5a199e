#include "config/import/foreign_yaml.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/text.h"
#include "config/import/format.h"
#include "config/import/text.h"
#include "config/problem.h"
#include "config/yaml.h"

namespace wardmote::config {

Result<YamlNode> read_foreign_yaml(const ForeignFile& file) {
  const YamlLimits limits{.depth = 32, .tags = true};
  Problems problems;
  YamlDocument document = parse_yaml(file.text, limits, problems);
  if (document.complete) return std::move(document.root);
  const std::vector<Problem> found = std::move(problems).take();
  const std::string why =
      found.empty() ? escape_control(file.name) : describe(escape_control(file.name), found.back());
  const bool limit =
      !found.empty() && (found.back().what == "file" || found.back().what == "nesting" ||
                         found.back().what == "document" || found.back().what == "map");
  return fail(limit ? Errc::kLimit : Errc::kInvalid, "{}", why);
}

const YamlNode* child(const YamlNode& node, std::string_view key) noexcept {
  const auto found = std::ranges::find(node.entries, key, &YamlEntry::key);
  return found == node.entries.end() ? nullptr : &found->value;
}

const YamlNode* below(const YamlNode& node, std::string_view keys) noexcept {
  const YamlNode* at = &node;
  while (at != nullptr && !keys.empty()) at = child(*at, take_until(keys, '.'));
  return at;
}

std::optional<std::string> text_at(const YamlNode& node, std::string_view keys) {
  const YamlNode* const found = below(node, keys);
  if (found == nullptr || found->kind != YamlNode::Kind::kScalar) return std::nullopt;
  return found->text;
}

std::vector<std::string> texts_at(const YamlNode& node, std::string_view keys) {
  std::vector<std::string> texts;
  const YamlNode* const found = below(node, keys);
  if (found == nullptr) return texts;
  if (found->kind == YamlNode::Kind::kScalar) texts.push_back(found->text);
  for (const YamlNode& item : found->items) {
    if (item.kind == YamlNode::Kind::kScalar) texts.push_back(item.text);
  }
  return texts;
}

bool flag_at(const YamlNode& node, std::string_view keys, bool otherwise) {
  const auto text = text_at(node, keys);
  if (!text) return otherwise;
  const std::string small = lower(*text);
  if (small == "true" || small == "yes" || small == "on") return true;
  if (small == "false" || small == "no" || small == "off") return false;
  return otherwise;
}

}  // namespace wardmote::config
