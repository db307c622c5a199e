#include "cli/render/history.h"

#include <boost/json/value.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/format.h"
#include "cli/render/fields.h"
#include "cli/render/style.h"
#include "cli/render/words.h"

namespace wardmote::cli {
namespace {

namespace json = boost::json;

/// `ok -> fail  refused`: what an event says beyond its kind and subject.
std::string say(const Fields& data) {
  std::vector<std::string> said;
  if (data.has("member")) said.push_back(data.text("member"));
  if (data.has("to")) said.push_back(fmt::format("{} -> {}", data.text("from"), data.text("to")));
  for (const std::string_view key : {"summary", "detail", "complaint", "by", "comment"}) {
    if (std::string text = data.text(key); !text.empty()) said.push_back(std::move(text));
  }
  const auto failing = data.texts("failing");
  if (!failing.empty()) said.push_back(fmt::format("waits for {}", fmt::join(failing, ", ")));
  return fmt::format("{}", fmt::join(said, "  "));
}

Cell code_of(const Fields& event) {
  const Cell severity = severity_word(event.raw("severity"));
  return {event.text("code"), severity.tone};
}

/// `#17`, `#17 #18` for a notice of several.
std::string incidents_of(const Fields& event) {
  if (const auto incident = event.number("incident")) return fmt::format("#{}", *incident);
  std::vector<std::string> several = event.texts("names");
  std::erase_if(several, [](const std::string& name) { return !name.starts_with('#'); });
  return fmt::format("{}", fmt::join(several, " "));
}

}  // namespace

std::string draw_history(const json::value& shown, Style style) {
  const Fields body(shown);
  Table table({"AT", "WHAT", "SUBJECT", "CODE", "INCIDENT", "SAYS"});
  for (const json::value& value : body.list("events")) {
    const Fields event(value);
    table.add({{event.text("at"), Tone::kFaint},
               {event.text("kind")},
               {event.text("subject"), Tone::kStrong},
               event.has("code") ? code_of(event) : Cell{},
               {incidents_of(event)},
               {say(event.object("data"))}});
  }
  std::string drawn = table.empty() ? "Nothing has changed.\n" : table.draw(style);
  if (!body.flag("complete")) drawn += "There may be more: these are the newest.\n";
  if (!body.flag("stored")) {
    drawn += "Only since the agent's start: set 'data' in its configuration to keep more.\n";
  }
  const std::string complaint = body.text("complaint");
  if (!complaint.empty()) {
    drawn += paint(style, Tone::kWarning, "The history cannot be written: " + complaint) + "\n";
  }
  return drawn;
}

}  // namespace wardmote::cli
