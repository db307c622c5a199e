#include "config/import/plunger_command.h"

#include <algorithm>
#include <array>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <cstddef>
#include <expected>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/text.h"
#include "codec/yaml/yaml_json.h"
#include "config/import/format.h"
#include "config/import/shell_words.h"

namespace wardmote::config {
namespace {

namespace json = boost::json;

constexpr std::size_t kLongestFile = 4 << 20;

/// Flags of Go that need no value.
constexpr auto kSwitches = std::to_array<std::string_view>(
    {"leader-elect", "metrics-secure", "enable-http2", "disable-telemetry", "zap-devel"});

void take_flags(const std::vector<std::string>& words, PlungerCommand& into) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    std::string_view word = words[i];
    if (!word.starts_with('-')) continue;
    while (word.starts_with('-')) word.remove_prefix(1);
    const bool has_value = word.contains('=');
    const std::string name(take_until(word, '='));
    if (name.empty()) continue;
    std::string value(word);
    const bool is_switch = std::ranges::find(kSwitches, name) != kSwitches.end();
    if (!has_value && is_switch) value = "true";
    if (!has_value && !is_switch && i + 1 < words.size()) value = words[++i];
    into.flags.emplace_back(name, std::move(value));
  }
}

const json::value* at(const json::value& value, std::string_view key) {
  const json::object* const object = value.if_object();
  return object == nullptr ? nullptr : object->if_contains(key);
}

std::string text_of(const json::value* value) {
  if (value == nullptr || value->if_string() == nullptr) return {};
  return std::string(value->get_string());
}

bool is_of_plunger(std::string_view text) {
  return text.contains("kubeovn-plunger") || text.contains("kube-ovn-plunger");
}

void take_container(const json::value& container, PlungerCommand& into) {
  if (const json::value* const list = at(container, "env"); list != nullptr && list->is_array()) {
    for (const json::value& one : list->get_array()) {
      const std::string name = text_of(at(one, "name"));
      if (at(one, "value") != nullptr) into.environment[name] = text_of(at(one, "value"));
    }
  }
  std::vector<std::string> words;
  for (const std::string_view key : {"command", "args"}) {
    const json::value* const list = at(container, key);
    if (list == nullptr || !list->is_array()) continue;
    for (const json::value& one : list->get_array()) words.push_back(text_of(&one));
  }
  const bool is_plunger =
      is_of_plunger(text_of(at(container, "name"))) ||
      is_of_plunger(text_of(at(container, "image"))) ||
      std::ranges::any_of(words, [](const std::string& word) { return is_of_plunger(word); });
  if (is_plunger) take_flags(words, into);
}

void take_object(const json::value& object, PlungerCommand& into) {
  const json::value* const spec = at(object, "spec");
  if (spec == nullptr) return;
  const json::value* const pod = at(*spec, "template");
  const json::value* const inner = pod == nullptr ? spec : at(*pod, "spec");
  const json::value* const list = inner == nullptr ? nullptr : at(*inner, "containers");
  if (list == nullptr || !list->is_array()) return;
  for (const json::value& container : list->get_array()) take_container(container, into);
}

Result<void> take_yaml(const ForeignFile& file, PlungerCommand& into) {
  const auto documents = codec::read_yaml(file.text);
  if (!documents)
    return fail(Errc::kInvalid, "{}:{}:{}: {}", escape_control(file.name), documents.error().line,
                documents.error().column, documents.error().why);
  for (const codec::JsonDocument& document : *documents) {
    const json::value* const items = at(document.value, "items");
    take_object(document.value, into);
    if (items == nullptr || !items->is_array()) continue;
    for (const json::value& item : items->get_array()) take_object(item, into);
  }
  return {};
}

/// A manifest has a kind; a command line has none.
bool is_manifest(std::string_view text) {
  return text.contains("apiVersion") || text.contains("kind:") || text.contains("\"kind\"");
}

}  // namespace

Result<PlungerCommand> read_plunger(std::span<const ForeignFile> files) {
  PlungerCommand command;
  for (const ForeignFile& file : files) {
    if (file.text.size() > kLongestFile)
      return fail(Errc::kLimit, "{}: {} bytes", escape_control(file.name), file.text.size());
    if (file.text.contains('\0'))
      return fail(Errc::kInvalid, "{}: a zero byte", escape_control(file.name));
    if (is_manifest(file.text)) {
      if (auto good = take_yaml(file, command); !good) return std::unexpected(good.error());
      continue;
    }
    const std::vector<std::string> words = shell_words(file.text).words;
    take_flags(words, command);
    for (std::string_view word : words) {  // `NODE_IPS=… kubeovn-plunger --…`
      const std::string_view name = take_until(word, '=');
      if (name == "NODE_IPS" || name == "ENABLE_SSL") command.environment[std::string(name)] = word;
    }
  }
  return command;
}

}  // namespace wardmote::config
