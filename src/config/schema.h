#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include <boost/json/object.hpp>

#include "observe/kinds.h"

namespace wardmote::config {

/// What a key may hold.
enum class Form : std::uint8_t {
  kName,
  kText,
  kNumber,    ///< whole, from `least` to `most`
  kDuration,  ///< `500ms`, `1s`, `2m`, `1h`
  kFlag,
  kEndpoint,
  kUrl,      ///< of the web; some services have their secret in its path
  kTexts,    ///< a list of texts
  kUrls,     ///< a list of those
  kLabels,   ///< texts by name
  kWay,      ///< an endpoint, or the keys of `command`
  kWord,     ///< one of `words`
  kWords,    ///< such words by name
  kWeights,  ///< a list of texts, or weights by name
  kMap,      ///< the keys of `section`
  kMaps,     ///< a list of such maps
  kByName,   ///< such maps by name
};

/// One key of a section.
struct KeySpec {
  std::string_view name;
  Form form;
  bool required;
  std::string_view help;
  std::string_view section = {};  ///< of kMap, kMaps and kByName
  int least = 0;
  int most = 0;
  std::string_view words = {};  ///< `viewer|operator|admin`
  /// What an absent key means, as somebody would write it; empty: that nothing is there, or what
  /// depends on other keys.
  std::string_view otherwise = {};

  [[nodiscard]] constexpr KeySpec or_else(std::string_view text) const {
    KeySpec key = *this;
    key.otherwise = text;
    return key;
  }
};

/// The keys of one kind of map. `check` has one of the kinds of probes besides.
struct Section {
  std::string_view name;
  std::span<const KeySpec> keys;
  bool scheduled;  ///< has the schedule_keys() besides
};

/// Every section; the first is the whole file.
std::span<const Section> schema_table() noexcept;

std::span<const KeySpec> schedule_keys() noexcept;

/// A JSON schema (draft 7, which editors know) of the configuration. What depends on other values
/// (names that must exist, a timeout longer than its interval) is beyond it: `config check` tells.
boost::json::object json_schema(std::span<const observe::ProbeKind> kinds);

}  // namespace wardmote::config
