#include "config/receivers/kinds.h"

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "act/notify/services/service.h"
#include "base/format.h"
#include "config/config.h"
#include "config/problem.h"
#include "config/reader.h"
#include "config/schema.h"
#include "config/sections.h"
#include "config/yaml.h"

namespace wardmote::config {
namespace {

using namespace std::chrono_literals;

/// In the order of ReceiverOptions, whose last one is that of the services.
constexpr std::array<const ReceiverKind*, std::variant_size_v<ReceiverOptions> - 1> kKinds = {
    &kWebhookKind, &kAlertmanagerKind, &kMasakariKind, &kKubernetesKind,
    &kMailKind,    &kExecKind,         &kJournalKind,  &kLogKind};
static_assert(std::is_same_v<std::variant_alternative_t<kKinds.size(), ReceiverOptions>,
                             act::notify::ServiceOptions>);

std::string kind_names() {
  std::string names;
  for (const ReceiverKind* const kind : receiver_kinds()) {
    names += (names.empty() ? "" : ", ") + std::string(kind->name);
  }
  return names;
}

Receiver read_receiver(const YamlNode& node, std::size_t number, Names& names, Problems& problems) {
  MapReader map(node, fmt::format("receiver {}", number), problems);
  Receiver receiver;
  if (const YamlNode* const name = map.require("name", "name: oncall")) {
    receiver.name = read_name(*name, "name", problems).value_or("");
    if (!receiver.name.empty()) names.add(receiver.name, name->at, problems);
  }
  std::vector<const ReceiverKind*> given;
  for (const ReceiverKind* const kind : receiver_kinds()) {
    const YamlNode* const options = map.find(kind->name);
    if (options == nullptr) continue;
    given.push_back(kind);
    receiver.options = kind->read(*options, problems);
  }
  if (given.size() != 1 && map.is_map()) {
    problems.add(map.at(), map.what(),
                 given.empty() ? "it does not say how" : "it says more than one way",
                 fmt::format("give one of: {}", kind_names()));
  }
  const ReceiverKind& kind = given.empty() ? kLogKind : *given.back();
  receiver.timeout = map.read_duration_in("timeout", kind.least_timeout, 2min, kind.timeout);
  map.finish();
  return receiver;
}

}  // namespace

std::span<const ReceiverKind* const> receiver_kinds() {
  static const std::vector<const ReceiverKind*> kAll = [] {
    std::vector<const ReceiverKind*> all(kKinds.begin(), kKinds.end());
    for (const ReceiverKind& kind : service_kinds()) all.push_back(&kind);
    return all;
  }();
  return kAll;
}

std::string_view kind_name(const Receiver& receiver) noexcept {
  const auto* const at = std::get_if<act::notify::ServiceOptions>(&receiver.options);
  if (at != nullptr) return at->service->name;
  return kKinds[receiver.options.index()]->name;
}

std::vector<Section> receiver_sections() {
  static const std::vector<KeySpec> kReceiver = [] {
    std::vector<KeySpec> keys = {
        {"name", Form::kName, true, "Unique among receivers"},
        {"timeout", Form::kDuration, false, "The end of one attempt, 1s to 2m (15s, Masakari 30s)"},
    };
    for (const ReceiverKind* const kind : receiver_kinds()) {
      keys.push_back({kind->name, Form::kMap, false, kind->help, kind->sections.front().name});
    }
    return keys;
  }();
  std::vector<Section> sections = {{"receiver", kReceiver, false}};
  for (const ReceiverKind* const kind : receiver_kinds()) {
    sections.insert(sections.end(), kind->sections.begin(), kind->sections.end());
  }
  return sections;
}

std::vector<Receiver> read_receivers(const YamlNode& list, Names& names, Problems& problems) {
  std::vector<Receiver> receivers;
  receivers.reserve(list.items.size());
  for (const YamlNode& item : list.items) {
    receivers.push_back(read_receiver(item, receivers.size() + 1, names, problems));
  }
  return receivers;
}

}  // namespace wardmote::config
