#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "config/problem.h"

namespace wardmote::config {

struct YamlEntry;

/// A YAML value with the place where it begins. Anchors, aliases and tags do not exist here:
/// parse_yaml() refuses them.
struct YamlNode {
  enum class Kind : std::uint8_t { kNull, kScalar, kList, kMap };

  Kind kind = Kind::kNull;
  Place at;
  std::string text;                ///< of a scalar
  bool quoted = false;             ///< a quoted scalar is text, whatever it looks like
  std::vector<YamlNode> items;     ///< of a list
  std::vector<YamlEntry> entries;  ///< of a map, in the order of the file, each key once
};

struct YamlEntry {
  std::string key;
  Place at;
  YamlNode value;
};

/// Whether both say the same, wherever it stands.
bool same_content(const YamlNode& a, const YamlNode& b);

/// `a map`, `a list`, `text`, `nothing`: for messages.
std::string_view kind_name(YamlNode::Kind kind) noexcept;

struct YamlLimits {
  std::size_t bytes = 4 << 20;
  std::size_t depth = 16;
  std::size_t nodes = 200'000;
  std::size_t keys = 1'000;  ///< of one map
  bool tags = false;         ///< true: a tag of a scalar is passed over, not refused
};

struct YamlDocument {
  YamlNode root;
  bool complete = false;  ///< read to its end; if not, `root` is empty and a problem says why
};

/// Reads one YAML document; an empty one is kNull. A key given twice is a problem, but reading goes
/// on. `file` is that of all places.
YamlDocument parse_yaml(std::string_view bytes, const YamlLimits& limits, Problems& problems,
                        int file = 0);

}  // namespace wardmote::config
