#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "config/problem.h"
#include "config/yaml.h"
#include "runtime/endpoint.h"

namespace wardmote::config {

/// A value that was read, and where it stands.
template <class T>
struct Placed {
  T value;
  Place at;
};

/// Typed readers: what is not of the type is a problem, and nothing is returned. `what` names the
/// value in messages.
std::optional<std::string> read_text(const YamlNode& node, std::string_view what,
                                     Problems& problems);
std::optional<std::int64_t> read_integer(const YamlNode& node, std::string_view what,
                                         Problems& problems);
std::optional<bool> read_flag(const YamlNode& node, std::string_view what, Problems& problems);
std::optional<Duration> read_duration(const YamlNode& node, std::string_view what,
                                      Problems& problems);
std::optional<runtime::Endpoint> read_endpoint(const YamlNode& node, std::string_view what,
                                               Problems& problems);
/// What is no text is a problem and left out.
std::vector<Placed<std::string>> read_texts(const YamlNode& node, std::string_view what,
                                            Problems& problems);
/// A name: 1 to 63 letters, digits, '.', '_' and '-', beginning with a letter or digit, so that it
/// is the same everywhere: in YAML, a URL path, a metric's label and a shell.
std::optional<std::string> read_name(const YamlNode& node, std::string_view what,
                                     Problems& problems);

/// Reads the keys of one map. Every key that may stand there is asked for once with find();
/// finish() then reports the keys that nobody asked for. A node that is no map is a problem at
/// once, and behaves like an empty map.
class MapReader {
 public:
  /// `what` names the map in messages: `cluster 'ovn-nb'`. All arguments outlive the reader.
  MapReader(const YamlNode& node, std::string what, Problems& problems);

  [[nodiscard]] const std::string& what() const noexcept { return what_; }
  [[nodiscard]] Place at() const noexcept { return node_.at; }
  [[nodiscard]] bool is_map() const noexcept { return node_.kind == YamlNode::Kind::kMap; }
  [[nodiscard]] Problems& problems() const noexcept { return problems_; }

  /// The value of `key`, or null when it is absent.
  const YamlNode* find(std::string_view key);
  /// As find(), and a missing key is a problem.
  const YamlNode* require(std::string_view key, std::string_view example);

  /// find() and the typed reader in one. Nothing when absent or wrong.
  template <class T>
  std::optional<T> read(std::string_view key,
                        std::optional<T> (*reader)(const YamlNode&, std::string_view, Problems&)) {
    const YamlNode* const node = find(key);
    return node == nullptr ? std::nullopt : reader(*node, key, problems_);
  }
  /// As read(); a missing key is a problem.
  template <class T>
  std::optional<T> read_required(std::string_view key, std::string_view example,
                                 std::optional<T> (*reader)(const YamlNode&, std::string_view,
                                                            Problems&)) {
    const YamlNode* const node = require(key, example);
    return node == nullptr ? std::nullopt : reader(*node, key, problems_);
  }
  /// An integer from `least` to `most`, or `otherwise` when absent or wrong.
  std::int64_t read_integer_in(std::string_view key, std::int64_t least, std::int64_t most,
                               std::int64_t otherwise);
  /// A duration from `least` to `most`, or `otherwise` when absent or wrong.
  Duration read_duration_in(std::string_view key, Duration least, Duration most,
                            Duration otherwise);

  /// Reports the keys that were not asked for, and what they may have been meant to be.
  void finish();

  /// The entries that nobody has asked for yet.
  [[nodiscard]] std::vector<const YamlEntry*> others() const;

 private:
  void also_known(std::string_view key);

  const YamlNode& node_;
  std::string what_;
  Problems& problems_;
  std::vector<std::string_view> known_;
};

/// The item of `known` that `word` is most likely a typing error of; nothing when none is near.
std::optional<std::string_view> did_you_mean(std::string_view word,
                                             const std::vector<std::string_view>& known);

}  // namespace wardmote::config
