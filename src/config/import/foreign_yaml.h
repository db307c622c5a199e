#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "config/import/format.h"
#include "config/yaml.h"

namespace wardmote::config {

/// One YAML document of another program. kLimit: it is too long, too deep or has too many values;
/// kInvalid: it is not YAML, or has anchors. Both say where.
Result<YamlNode> read_foreign_yaml(const ForeignFile& file);

/// The value of a key; null when the node is no map or has no such key.
const YamlNode* child(const YamlNode& node, std::string_view key) noexcept;
/// The same for `a.b`.
const YamlNode* below(const YamlNode& node, std::string_view keys) noexcept;
/// The text of a scalar at `keys`; nothing when there is none.
std::optional<std::string> text_at(const YamlNode& node, std::string_view keys);
/// The texts of a list at `keys`, or of a scalar.
std::vector<std::string> texts_at(const YamlNode& node, std::string_view keys);
/// `true`, `yes` and `on` as YAML 1.1 has them; `otherwise` when it is absent or anything else.
bool flag_at(const YamlNode& node, std::string_view keys, bool otherwise);

}  // namespace wardmote::config
