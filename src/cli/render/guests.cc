#include "cli/render/guests.h"

#include <boost/json/value.hpp>
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

namespace wardmote::cli {
namespace {

namespace json = boost::json;

Tone tone_of(const Fields& guest, Exit exit) noexcept {
  if (exit == Exit::kCritical) return Tone::kCritical;
  if (exit == Exit::kWarning || guest.raw("verdict") == "SILENT") return Tone::kWarning;
  return guest.raw("verdict") == "HEALTHY" ? Tone::kGood : Tone::kPlain;
}

/// `error 2/3` while it fails.
std::string state_words(const Fields& guest) {
  std::string words = guest.text("state");
  if (words == "error") {
    words += fmt::format(" {}/{}", guest.number("failures").value_or(0),
                         guest.number("threshold").value_or(0));
  }
  if (guest.flag("booting")) words += ", boots";
  return words;
}

}  // namespace

Exit exit_of_guest(const json::value& guest) noexcept {
  Exit worst = Exit::kGood;
  for (const json::value& finding : Fields(guest).list("findings"))
    worst = worse(worst, exit_of_severity(Fields(finding).raw("severity")));
  return worst;
}

std::string draw_guests(std::span<const json::value> guests, Style style) {
  if (guests.empty()) return {};
  std::vector<std::string> headings = {"GUEST", "INSTANCE", "VERDICT", "STATE",
                                       "RUN",   "CHANNEL",  "PING"};
  if (style.wide) headings.insert(headings.end(), {"UUID", "PROJECT", "FLAVOR", "LAST-ANSWER"});
  Table table(std::move(headings));
  for (const json::value& value : guests) {
    const Fields guest(value);
    const std::optional<std::int64_t> ping = guest.number("ping_ms");
    std::vector<Cell> row = {{guest.text("guest"), Tone::kStrong},
                             {guest.text("instance")},
                             {guest.text("verdict"), tone_of(guest, exit_of_guest(value))},
                             {state_words(guest)},
                             {guest.text("run")},
                             {guest.text("channel")},
                             {ping ? fmt::format("{}ms", *ping) : ""}};
    if (style.wide) {
      row.insert(row.end(), {{guest.text("uuid")},
                             {guest.text("project")},
                             {guest.text("flavor")},
                             {guest.text("last_answer")}});
    }
    table.add(std::move(row));
  }
  return table.draw(style);
}

}  // namespace wardmote::cli
