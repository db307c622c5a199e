// docs/configuration-keys.md comes from the tables that the schema and the effective configuration
// come from.

#include <algorithm>
#include <set>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "base/format.h"
#include "base/text.h"
#include "config/schema.h"
#include "observe/kinds.h"
#include "support/test_data.h"
#include "support/written_page.h"

namespace wardmote::config {
namespace {

constexpr std::string_view kHead = R"(# Every key of the configuration

<!-- from src/config/schema.cc: WARDMOTE_WRITE_DOCS=1 unit_config writes it anew -->

What the keys are for, with examples: [configuration](configuration.md), [notifications](notifications.md), [plans](plans.md),
[BGP meshes](bgp-mesh.md), [reporters](reporters.md), [guests](guests.md), [version gates](version-gate.md). `wardmoted config schema` prints the same as a JSON schema,
and `wardmoted config show --effective` your configuration with the defaults. Keys in **bold** are required.
)";

std::string form_of(const KeySpec& key) {
  switch (key.form) {
    case Form::kName: return "name";
    case Form::kText: return "text";
    case Form::kNumber: return fmt::format("{} to {}", key.least, key.most);
    case Form::kDuration: return "duration";
    case Form::kFlag: return "flag";
    case Form::kEndpoint: return "endpoint";
    case Form::kUrl: return "URL";
    case Form::kTexts: return "list of texts";
    case Form::kUrls: return "list of URLs";
    case Form::kLabels: return "texts by name";
    case Form::kWay: return "endpoint, or `{command: […]}`";
    case Form::kWord: return fmt::format("`{}`", fmt::join(split(key.words, '|'), "`, `"));
    case Form::kWords:
      return fmt::format("by name: `{}`", fmt::join(split(key.words, '|'), "`, `"));
    case Form::kWeights: return "list of names, or weights by name";
    case Form::kMap: return "map";
    case Form::kMaps: return "list of maps";
    case Form::kByName: return "maps by name";
  }
  return "";
}

std::string row_of(const KeySpec& key) {
  return fmt::format("| {0}`{1}`{0} | {2} | {3} | {4} |\n", key.required ? "**" : "", key.name,
                     form_of(key), key.otherwise.empty() ? "" : fmt::format("`{}`", key.otherwise),
                     key.help);
}

class Reference {
 public:
  std::string write() {
    add(schema_table().front(), "");
    return text_;
  }

 private:
  void add(const Section& section, const std::string& path) {
    if (!written_.insert(section.name).second || section.keys.empty()) return;
    text_ += fmt::format("\n## {}\n\n", path.empty() ? "The file" : fmt::format("`{}`", path));
    text_ += "| key | value | default | meaning |\n|---|---|---|---|\n";
    for (const KeySpec& key : section.keys) text_ += row_of(key);
    if (section.scheduled) {
      for (const KeySpec& key : schedule_keys()) text_ += row_of(key);
    }
    if (section.name == "check") add_kinds();
    for (const KeySpec& key : section.keys) {
      if (key.section.empty()) continue;
      const Section& below = *std::ranges::find(schema_table(), key.section, &Section::name);
      std::string next = path + (path.empty() ? "" : ".") + std::string(key.name);
      if (key.form == Form::kMaps) next += "[]";
      if (key.form == Form::kByName) next += ".NAME";
      add(below, next);
    }
  }

  void add_kinds() {
    text_ += "\nBesides, a check has one of these, with the [parameters of its kind](probes/): ";
    std::string kinds;
    for (const observe::ProbeKind& kind : observe::probe_kinds())
      kinds +=
          fmt::format("{}[`{}`](probes/{}.md)", kinds.empty() ? "" : ", ", kind.name, kind.name);
    text_ += kinds + ".\n";
  }

  std::string text_ = std::string(kHead);
  std::set<std::string_view> written_;
};

TEST(ConfigReference, IsWhatTheTablesSay) {
  const std::string expected = Reference().write();
  const std::string file = std::string(WARDMOTE_TEST_DATA) + "/../../docs/configuration-keys.md";
  EXPECT_TRUE(test::is_written(file, expected));
}

}  // namespace
}  // namespace wardmote::config
