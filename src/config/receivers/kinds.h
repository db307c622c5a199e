#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.h"
#include "config/problem.h"
#include "config/receivers/field.h"
#include "config/schema.h"
#include "config/sections.h"
#include "config/yaml.h"

namespace wardmote::config {

/// A kind of receiver: all that the configuration knows of it.
struct ReceiverKind {
  std::string_view name;
  std::string_view help;
  std::span<const Section> sections;  ///< its own map first, then the maps in it
  ReceiverOptions (*read)(const YamlNode& node, Problems& problems);
  Duration timeout = std::chrono::seconds(15);  ///< of one attempt, where none is given
  Duration least_timeout = std::chrono::seconds(1);
};

extern const ReceiverKind kAlertmanagerKind, kExecKind, kJournalKind, kKubernetesKind, kLogKind,
    kMailKind, kMasakariKind, kWebhookKind;

/// One for each row of act::notify::services(), in their order.
std::span<const ReceiverKind> service_kinds();

/// Reads a map with the fields of one kind; `check` then says what does not go together.
template <class T, std::size_t Size>
ReceiverOptions read_options(const YamlNode& node, std::string_view name,
                             const std::array<Field<T>, Size>& fields, Problems& problems,
                             void (*check)(const T& options, MapReader& map) = nullptr) {
  MapReader map(node, std::string(name), problems);
  T options = read_fields(map, fields);
  if (check != nullptr && map.is_map()) check(options, map);
  map.finish();
  return options;
}

/// All of them.
std::span<const ReceiverKind* const> receiver_kinds();

/// Their maps, for the schema: `receiver` first.
std::vector<Section> receiver_sections();

/// `receivers` of `notify`. Adds their names to `names`.
std::vector<Receiver> read_receivers(const YamlNode& list, Names& names, Problems& problems);

}  // namespace wardmote::config
