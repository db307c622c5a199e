#include "config/receivers/kinds.h"

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

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

constexpr std::array<const ReceiverKind*, std::variant_size_v<ReceiverOptions>> kKinds = {
    &kWebhookKind, &kAlertmanagerKind, &kMasakariKind, &kKubernetesKind,
    &kMailKind,    &kExecKind,         &kJournalKind,  &kLogKind};

std::string kind_names() {
  std::string names;
  for (const ReceiverKind* const kind : kKinds) {
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
  for (const ReceiverKind* const kind : kKinds) {
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

std::span<const ReceiverKind* const> receiver_kinds() noexcept {
  return kKinds;
}

std::string_view kind_name(const Receiver& receiver) noexcept {
  return kKinds[receiver.options.index()]->name;
}

std::vector<Section> receiver_sections() {
  static const std::vector<KeySpec> kReceiver = [] {
    std::vector<KeySpec> keys = {
        {"name", Form::kName, true, "Unique among receivers"},
        {"timeout", Form::kDuration, false, "The end of one attempt, 1s to 2m (15s, Masakari 30s)"},
    };
    for (const ReceiverKind* const kind : kKinds) {
      keys.push_back({kind->name, Form::kMap, false, kind->help, kind->sections.front().name});
    }
    return keys;
  }();
  std::vector<Section> sections = {{"receiver", kReceiver, false}};
  for (const ReceiverKind* const kind : kKinds) {
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
