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

/// All documents of a YAML text as JSON, the empty ones left out. Plain scalars mean what they mean
/// to kubectl: `true`, `null`, `0644` (octal), `1.5`. What readers of YAML 1.1 and 1.2 understand
/// differently (`yes`, `off`, `08`), what JSON cannot say (`.nan`), keys given twice, anchors,
/// aliases, merge keys and tags are refused. Pure.
std::expected<std::vector<JsonDocument>, TextFault> read_yaml(std::string_view bytes,
                                                              const YamlJsonLimits& limits = {});

/// One JSON text. Pure.
std::expected<JsonDocument, TextFault> read_json(std::string_view bytes,
                                                 const YamlJsonLimits& limits = {});

}  // namespace wardmote::codec
