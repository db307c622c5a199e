#include "cli/render/notify.h"

#include <boost/json/value.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/format.h"
#include "cli/exit_code.h"
#include "cli/render/fields.h"
#include "cli/render/style.h"

namespace wardmote::cli {

namespace json = boost::json;

namespace {

/// The number of a silence, or its name in the configuration.
std::string name_of(const Fields& silence) {
  const std::string name(silence.text("name"));
  return name.empty() ? fmt::format("{}", silence.number("id").value_or(0)) : name;
}

}  // namespace

std::vector<std::string> silence_names(const json::value& shown) {
  std::vector<std::string> names;
  for (const json::value& value : Fields(shown).list("silences")) {
    names.push_back(name_of(Fields(value)));
  }
  return names;
}

std::string draw_silences(const json::value& shown, Style style) {
  Table table({"SILENCE", "STATE", "UNTIL", "MATCHES", "BY", "COMMENT"});
  for (const json::value& value : Fields(shown).list("silences")) {
    const Fields silence(value);
    table.add({{name_of(silence), Tone::kStrong},
               {silence.flag("active") ? "active" : "not now"},
               {silence.text("until")},
               {fmt::format("{}", fmt::join(silence.texts("match"), " "))},
               {silence.text("by")},
               {silence.text("comment")}});
  }
  return table.empty() ? "Nothing is silenced.\n" : table.draw(style);
}

std::string draw_silence(const json::value& value, Style) {
  const Fields silence(value);
  return fmt::format("silence {} until {}: {}\n", silence.number("id").value_or(0),
                     silence.text("until"), fmt::join(silence.texts("match"), " "));
}

std::string draw_receivers(const json::value& shown, Style style) {
  Table table(
      {"RECEIVER", "KIND", "DELIVERED", "REFUSED", "GIVEN-UP", "WAITING", "LAST", "REASON"});
  const Fields body(shown);
  const auto count = [](const Fields& of, std::string_view name) {
    return fmt::format("{}", of.number(name).value_or(0));
  };
  for (const json::value& value : body.list("receivers")) {
    const Fields receiver(value);
    const Fields last = receiver.object("last");
    const bool good = last.flag("good");
    Cell said;
    if (last.has("at")) {
      said = {good ? "delivered" : "refused", good ? Tone::kGood : Tone::kWarning};
    }
    table.add({{receiver.text("name"), Tone::kStrong},
               {receiver.text("kind")},
               {count(receiver, "delivered")},
               {count(receiver, "refused")},
               {count(receiver, "dead")},
               {count(receiver, "waiting")},
               said,
               {last.text("reason")}});
  }
  std::string drawn =
      table.empty() ? "There are no receivers: nobody is notified.\n" : table.draw(style);
  for (const json::value& value : body.list("dead_letters")) {
    const Fields letter(value);
    drawn += fmt::format("given up at {}: {} to {}: {}\n", letter.text("at"), letter.text("key"),
                         letter.text("receiver"), letter.text("reason"));
  }
  return drawn;
}

Exit exit_of_receivers(const json::value& shown) {
  Exit worst = Fields(shown).list("dead_letters").empty() ? Exit::kGood : Exit::kWarning;
  for (const json::value& value : Fields(shown).list("receivers")) {
    const Fields last = Fields(value).object("last");
    if (last.has("at") && !last.flag("good")) worst = worse(worst, Exit::kWarning);
  }
  return worst;
}

std::string draw_route_test(const json::value& shown, Style style) {
  const Fields body(shown);
  Table table({"ROUTE", "RECEIVER", "MATCHES", "RESULT", "WHY"});
  for (const json::value& value : body.list("routes")) {
    const Fields route(value);
    const std::string fate(route.raw("fate"));
    const bool takes = fate == "takes";
    const auto match = route.texts("match");
    std::string why = "a route before it took the incident, and has no 'continue'";
    const std::string rests(route.text("rests_until"));
    if (takes) why = fmt::format("group {}", route.text("group"));
    if (!rests.empty()) why = fmt::format("not active before {}; {}", rests, why);
    if (fate == "no_match") why = fmt::format("{} does not match", route.text("missed"));
    table.add({{fmt::format("{}", route.number("number").value_or(0))},
               {route.text("receiver"), Tone::kStrong},
               {match.empty() ? "everything" : fmt::format("{}", fmt::join(match, " "))},
               {!takes          ? "not"
                : rests.empty() ? "gets it"
                                : "later",
                takes ? Tone::kGood : Tone::kFaint},
               {why}});
  }
  std::string drawn =
      table.empty() ? "There are no receivers: nobody is notified.\n" : table.draw(style);
  const auto told = body.texts("receivers");
  if (told.empty() && !table.empty()) drawn += "No receiver would get it.\n";
  if (const std::string muted(body.text("muted_by")); !muted.empty())
    drawn += fmt::format("It would wait: {} mutes it now.\n", muted);
  return drawn;
}

Exit exit_of_route_test(const json::value& shown) {
  return Fields(shown).list("receivers").empty() ? Exit::kWarning : Exit::kGood;
}

std::string draw_test(const json::value& value) {
  const Fields receiver(value);
  const Fields last = receiver.object("last");
  return last.flag("good")
             ? fmt::format("{} took it\n", receiver.text("name"))
             : fmt::format("{} did not take it: {}\n", receiver.text("name"), last.text("reason"));
}

}  // namespace wardmote::cli
