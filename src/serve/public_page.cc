#include "serve/public_page.h"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/format.h"
#include "base/html.h"
#include "base/text.h"
#include "base/time.h"
#include "judge/check_machine.h"
#include "runtime/http.h"
#include "serve/answer.h"
#include "serve/role.h"
#include "serve/route.h"
#include "serve/view.h"

namespace wardmote::serve {

namespace json = boost::json;
using judge::State;
using runtime::HttpResponse;

namespace {

PublicState state_of(const CheckView& check) noexcept {
  if (!judge::counts(check.state, check.optional)) return PublicState::kOperational;
  if (check.state.state == State::kReported) return PublicState::kOutage;
  if (check.state.blind || check.state.state == State::kDiscovery) return PublicState::kUnknown;
  const bool troubled = check.state.degraded || check.state.state == State::kError;
  return troubled ? PublicState::kDegraded : PublicState::kOperational;
}

PublicState worst_of(const AgentView& view) noexcept {
  PublicState worst = PublicState::kOperational;
  for (const PublicLine& line : view.shown_publicly->lines)
    worst = std::max(worst, public_state(line, view.checks));
  return worst;
}

struct Words {
  std::string_view headline;
  std::string_view tone;  ///< a class of page.css
  std::string_view mark;
};

Words words_of(PublicState state) noexcept {
  switch (state) {
    case PublicState::kOperational: return {"Everything works", "ok", "✓"};
    case PublicState::kUnknown: return {"Not all is known at the moment", "unknown", "?"};
    case PublicState::kDegraded: return {"Something is degraded", "warning", "!"};
    case PublicState::kOutage: return {"There is an outage", "critical", "✕"};
  }
  return {"Not all is known at the moment", "unknown", "?"};
}

std::string shown(std::string_view text) {
  return escape_html(escape_control(text));
}

HttpResponse page(const Ask& ask) {
  if (!ask.view.shown_publicly) return error_answer(404, "this agent has no public page");
  return text_answer("text/html; charset=utf-8", public_html(ask.view));
}

HttpResponse page_json(const Ask& ask) {
  if (!ask.view.shown_publicly) return error_answer(404, "this agent has no public page");
  json::object body{{"title", escape_control(ask.view.shown_publicly->title)},
                    {"at", format_utc(ask.view.wall_now)},
                    {"state", to_string(worst_of(ask.view))}};
  json::array& lines = body["lines"].emplace_array();
  for (const PublicLine& line : ask.view.shown_publicly->lines)
    lines.push_back(json::object{{"name", escape_control(line.name)},
                                 {"state", to_string(public_state(line, ask.view.checks))}});
  return json_answer(body);
}

}  // namespace

std::string_view to_string(PublicState state) noexcept {
  switch (state) {
    case PublicState::kOperational: return "operational";
    case PublicState::kUnknown: break;
    case PublicState::kDegraded: return "degraded";
    case PublicState::kOutage: return "outage";
  }
  return "unknown";
}

PublicState public_state(const PublicLine& line, const std::vector<CheckView>& checks) noexcept {
  PublicState worst = PublicState::kOperational;
  for (const std::uint32_t check : line.checks) worst = std::max(worst, state_of(checks[check]));
  return worst;
}

std::string public_html(const AgentView& view) {
  const PublicPage& page = *view.shown_publicly;
  const std::string title = shown(page.title);
  const Words all = words_of(worst_of(view));
  std::string html = fmt::format(
      "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">"
      "<meta http-equiv=\"refresh\" content=\"30\"><title>{0}</title>"
      "<link rel=\"stylesheet\" href=\"page.css\"></head><body>"
      "<header><span class=\"brand\">{0}</span></header><main>"
      "<div class=\"verdict {1}\"><span class=\"mark\">{2}</span><h1>{3}</h1></div>"
      "<div class=\"card\"><table>",
      title, all.tone, all.mark, all.headline);
  for (const PublicLine& line : page.lines) {
    const PublicState state = public_state(line, view.checks);
    html +=
        fmt::format("<tr><td class=\"name\">{}</td><td><span class=\"chip {}\">{}</span></td></tr>",
                    shown(line.name), words_of(state).tone, to_string(state));
  }
  html += fmt::format("</table></div></main><footer><span>as of {}</span></footer></body></html>",
                      format_utc(view.wall_now));
  return html;
}

std::vector<Route> public_routes() {
  return {{"GET", "/public", Role::kNone, page}, {"GET", "/public.json", Role::kNone, page_json}};
}

}  // namespace wardmote::serve
