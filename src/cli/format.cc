#include "cli/format.h"

#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/render/fields.h"
#include "codec/yaml_text.h"

namespace wardmote::cli {
namespace {

namespace json = boost::json;

constexpr auto kWords = std::to_array<std::pair<std::string_view, Format>>({
    {"wide", Format::kWide},
    {"json", Format::kJson},
    {"jsonl", Format::kJsonLines},
    {"yaml", Format::kYaml},
    {"name", Format::kNames},
});

std::string json_lines(const json::value& shown, const Shape& shape) {
  if (shape.list.empty()) return json_line(shown) + "\n";
  std::string lines;
  for (const json::value& item : Fields(shown).list(shape.list)) lines += json_line(item) + "\n";
  return lines;
}

std::string yaml(const json::value& shown) {
  const std::string text = codec::yaml_text(shown);
  std::string safe;
  for (std::string_view rest = text; !rest.empty();)
    safe += escape_for_terminal(take_until(rest, '\n')) + "\n";
  return safe;
}

}  // namespace

Format format_of(const Call& call) {
  const std::string word = call.value("output");
  for (const auto& [name, format] : kWords) {
    if (word == name) return format;
  }
  return Format::kTable;
}

bool for_programs(Format format) noexcept {
  return format != Format::kTable && format != Format::kWide;
}

std::vector<std::string> names_in(const json::value& shown, std::string_view list,
                                  std::string_view key) {
  std::vector<std::string> names;
  for (const json::value& value : Fields(shown).list(list)) {
    const Fields item(value);
    const auto number = item.number(key);
    std::string name = key == "cluster" ? std::string() : item.text("cluster");
    if (!name.empty()) name += '/';
    name += number ? std::to_string(*number) : item.text(key);
    names.push_back(std::move(name));
  }
  return names;
}

std::string written(Format format, const json::value& shown, const Shape& shape) {
  if (format == Format::kJsonLines) return json_lines(shown, shape);
  if (format == Format::kYaml) return yaml(shown);
  if (format != Format::kNames || shape.names == nullptr) return json_line(shown) + "\n";
  std::string lines;
  for (const std::string& name : shape.names(shown)) lines += name + "\n";
  return lines;
}

}  // namespace wardmote::cli
