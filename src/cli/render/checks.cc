#include "cli/render/checks.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/format.h"
#include "cli/exit_code.h"
#include "cli/render/fields.h"
#include "cli/render/style.h"
#include "cli/render/words.h"

namespace wardmote::cli {
namespace {

namespace json = boost::json;

Tone tone_of(Exit exit) noexcept {
  if (exit == Exit::kGood) return Tone::kGood;
  if (exit == Exit::kWarning) return Tone::kWarning;
  return exit == Exit::kCritical ? Tone::kCritical : Tone::kUnknown;
}

/// `error 2/3` while it fails, `healthy, degraded`, `discovery, blind`.
std::string state_words(const Fields& check) {
  std::string words = check.text("state");
  if (words == "error") {
    words += fmt::format(" {}/{}", check.number("failures").value_or(0),
                         check.number("fall").value_or(0));
  }
  for (const std::string_view mark : {"degraded", "blind", "optional"}) {
    if (check.flag(mark)) words += fmt::format(", {}", mark);
  }
  return words;
}

}  // namespace

Exit exit_of_check(const json::value& check) noexcept {
  const std::optional<std::int64_t> code = Fields(check).number("exit_code");
  if (!code || *code < 0 || *code > 3) return Exit::kUnknown;
  return static_cast<Exit>(*code);
}

std::string draw_checks(std::span<const json::value> checks, Style style) {
  std::vector<std::string> headings = {"CHECK",     "KIND", "STATE", "FOR",
                                       "LAST-LOOK", "TOOK", "REASON"};
  if (style.wide) headings.insert(headings.end() - 1, {"EVERY", "LOOKS", "MISSED"});
  Table table(std::move(headings));
  for (const json::value& value : checks) {
    const Fields check(value);
    const std::string looked = duration_text(check.number("age_ms"));
    const std::optional<std::int64_t> took = check.number("took_ms");
    std::vector<Cell> row = {{check.text("name"), Tone::kStrong},
                             {check.text("kind")},
                             {state_words(check), tone_of(exit_of_check(value))},
                             {duration_text(check.number("since_ms"))},
                             {looked.empty() ? "" : looked + " ago"},
                             {took ? fmt::format("{}ms", *took) : ""},
                             {check.text(check.has("detail") ? "detail" : "reason")}};
    if (style.wide) {
      row.insert(row.end() - 1, {{duration_text(check.number("every_ms"))},
                                 {fmt::format("{}", check.number("looks").value_or(0))},
                                 {fmt::format("{}", check.number("missed").value_or(0))}});
    }
    table.add(std::move(row));
  }
  return table.draw(style);
}

}  // namespace wardmote::cli
