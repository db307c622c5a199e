#pragma once

#include <boost/json/value.hpp>
#include <cstddef>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

namespace wardmote::codec {

/// What is wrong in a text, and where: lines and columns begin with 1.
struct TextFault {
  int line = 1;
  int column = 1;
  std::string why;
  friend bool operator==(const TextFault&, const TextFault&) = default;
};

/// One document of a text, and the line where its value begins.
struct JsonDocument {
  int line = 1;
  boost::json::value value;
};

struct YamlJsonLimits {
  std::size_t bytes = 4 << 20;
  std::size_t depth = 64;
  std::size_t values = 500'000;
};

/// All documents of a YAML text as JSON, the empty ones left out. Values are those that kubectl has
/// (sigs.k8s.io/yaml, go-yaml 2): `true`, `null`, `0644` (octal), `1.5`, lines folded and escapes
/// read as in YAML 1.1. What readers of YAML 1.1 and 1.2 understand differently (`yes`, `off`,
/// `08`), what JSON cannot say (`.nan`), keys that kubectl would write in another way (`0x10`,
/// `True`), keys given twice, anchors, aliases, merge keys and tags are refused. Pure.
std::expected<std::vector<JsonDocument>, TextFault> read_yaml(std::string_view bytes,
                                                              const YamlJsonLimits& limits = {});

/// One JSON text. Pure.
std::expected<JsonDocument, TextFault> read_json(std::string_view bytes,
                                                 const YamlJsonLimits& limits = {});

}  // namespace wardmote::codec
