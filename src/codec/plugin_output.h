#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace wardmote::codec {

/// `'label'=value[unit];warn;crit;min;max` (Monitoring Plugins Development Guidelines, Performance
/// data).
struct PluginValue {
  std::string label;
  double value = 0;
  std::string unit;
  friend bool operator==(const PluginValue&, const PluginValue&) = default;
};

struct PluginOutput {
  std::string text;  ///< the first line, without the performance data
  std::vector<PluginValue> values;
};

/// Reads the output of a monitoring plugin. Total: a malformed value is left out, and at most 64
/// are kept.
PluginOutput parse_plugin_output(std::string_view output);

}  // namespace wardmote::codec
