// Chats: a notice is a message, and so is its end.
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "act/notify/payload.h"
#include "act/notify/services/requests.h"
#include "act/notify/services/service.h"
#include "base/format.h"
#include "base/html.h"
#include "base/text.h"
#include "codec/digest.h"
#include "judge/notify/notice.h"

namespace wardmote::act::notify {

namespace json = boost::json;
using judge::notify::NoticeItem;

namespace {

/// Longer messages are unreadable in a chat; the page and the API have the rest.
constexpr std::size_t kMostItems = 10;

constexpr std::size_t kSlackText = 3000;  // of a section's text
constexpr std::size_t kTeamsText = 4000;  // a message may have 28 KB
constexpr std::size_t kTelegramText = 4096;
constexpr std::size_t kMatrixText =
    16'000;  // an event may have 64 KiB, and the text is in it twice

/// One text for each incident, or that of the receiver's template.
std::vector<std::string> pieces_of(const ServiceNotice& given) {
  if (!given.options.text.empty()) return {message_of(given)};
  std::vector<std::string> pieces;
  for (const NoticeItem& item : given.notice.items) {
    if (pieces.size() == kMostItems) break;
    pieces.push_back(item_text(item, given.clock));
  }
  const std::size_t more = given.notice.items.size() - pieces.size() + given.notice.left_out;
  if (more > 0) pieces.push_back(fmt::format("and {} more", more));
  return pieces;
}

std::string_view slack_mark(Urgency urgency) {
  switch (urgency) {
    case Urgency::kCritical: return ":rotating_light: ";
    case Urgency::kWarning: return ":warning: ";
    case Urgency::kInfo: return ":information_source: ";
    case Urgency::kOver: return ":white_check_mark: ";
  }
  return "";
}

/// Slack's three control characters; with them nobody can mention a channel or hide a link.
std::string slack_escaped(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '&': escaped += "&amp;"; break;
      case '<': escaped += "&lt;"; break;
      case '>': escaped += "&gt;"; break;
      default: escaped += c;
    }
  }
  return escaped;
}

std::string_view teams_color(Urgency urgency) {
  switch (urgency) {
    case Urgency::kCritical: return "attention";
    case Urgency::kWarning: return "warning";
    case Urgency::kInfo: return "accent";
    case Urgency::kOver: return "good";
  }
  return "default";
}

/// A card reads Markdown: what could be some of it is escaped.
std::string teams_escaped(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (std::string_view("\\*_[]`#").contains(c)) escaped += '\\';
    if (c == '\n') escaped += '\n';  // one alone is no line break in Markdown
    escaped += c;
  }
  return escaped;
}

std::string html_lines(std::string_view text) {
  std::vector<std::string> lines;
  for (const std::string_view line : split(text, '\n')) lines.push_back(escape_html(line));
  return fmt::format("{}", fmt::join(lines, "<br>"));
}

std::string joined(const std::vector<std::string>& pieces) {
  return fmt::format("{}", fmt::join(pieces, "\n"));
}

}  // namespace

std::vector<ServiceCall> slack_calls(const ServiceNotice& given) {
  const std::string title = slack_escaped(notice_title(given.notice));
  json::array blocks;
  const auto add = [&](const std::string& text) {
    blocks.emplace_back(json::object{
        {"type", "section"}, {"text", {{"type", "mrkdwn"}, {"text", cut(text, kSlackText)}}}});
  };
  add(fmt::format("{}*{}*", slack_mark(urgency_of(given.notice)), title));
  for (const std::string& piece : pieces_of(given)) add(slack_escaped(piece));
  // What a notification shows where there is no room for the blocks.
  json::object body{{"text", cut(title, kSlackText)}, {"blocks", std::move(blocks)}};
  return {{json_call(given.options.url, body, given.options)}};
}

std::vector<ServiceCall> teams_calls(const ServiceNotice& given) {
  json::array elements;
  elements.emplace_back(json::object{{"type", "TextBlock"},
                                     {"text", teams_escaped(notice_title(given.notice))},
                                     {"size", "medium"},
                                     {"weight", "bolder"},
                                     {"color", teams_color(urgency_of(given.notice))},
                                     {"wrap", true}});
  for (const std::string& piece : pieces_of(given)) {
    elements.emplace_back(json::object{{"type", "TextBlock"},
                                       {"text", teams_escaped(cut(piece, kTeamsText / 2))},
                                       {"wrap", true}});
  }
  json::object card{{"$schema", "http://adaptivecards.io/schemas/adaptive-card.json"},
                    {"type", "AdaptiveCard"},
                    {"version", "1.4"},
                    {"body", std::move(elements)}};
  json::object attachment{{"contentType", "application/vnd.microsoft.card.adaptive"},
                          {"contentUrl", nullptr},
                          {"content", std::move(card)}};
  json::object body{{"type", "message"}, {"attachments", json::array{std::move(attachment)}}};
  return {{json_call(given.options.url, body, given.options)}};
}

std::vector<ServiceCall> telegram_calls(const ServiceNotice& given) {
  const std::string text = notice_title(given.notice) + "\n" + joined(pieces_of(given));
  // Without parse_mode nothing in the text is markup.
  json::object body{{"chat_id", given.options.to},
                    {"text", cut(text, kTelegramText)},
                    {"disable_notification", urgency_of(given.notice) == Urgency::kInfo}};
  return {{json_call(given.options.url + "/bot" + given.options.token.text + "/sendMessage", body,
                     given.options)}};
}

std::vector<ServiceCall> matrix_calls(const ServiceNotice& given) {
  const std::string title = notice_title(given.notice);
  const std::string text = cut(joined(pieces_of(given)), kMatrixText);
  json::object body{{"msgtype", "m.text"},
                    {"body", title + "\n" + text},
                    {"format", "org.matrix.custom.html"},
                    {"formatted_body", "<b>" + html_lines(title) + "</b><br>" + html_lines(text)}};
  // The server takes a transaction once, so a repetition is no second message.
  const std::string transaction = codec::hex(codec::sha256(given.notice.key())).substr(0, 32);
  ServiceCall made{json_call(given.options.url + "/_matrix/client/v3/rooms/" +
                                 percent_encoded(given.options.to) + "/send/m.room.message/" +
                                 transaction,
                             body, given.options)};
  made.call.method = "PUT";
  made.call.headers.emplace_back("Authorization", "Bearer " + given.options.token.text);
  return {std::move(made)};
}

}  // namespace wardmote::act::notify
