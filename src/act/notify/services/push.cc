// Push notifications for telephones: a title, a text and a priority.
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "act/notify/payload.h"
#include "act/notify/services/requests.h"
#include "act/notify/services/service.h"

namespace wardmote::act::notify {

namespace json = boost::json;

namespace {

constexpr std::size_t kTitle = 250;
constexpr std::size_t kNtfyText = 4096;  // a longer one becomes an attachment
constexpr std::size_t kGotifyText = 16'000;

/// 1 to 5; 3 is the default.
int ntfy_priority(Urgency urgency) {
  switch (urgency) {
    case Urgency::kCritical: return 5;
    case Urgency::kWarning: return 4;
    case Urgency::kInfo: return 2;
    case Urgency::kOver: return 3;
  }
  return 3;
}

/// Of ntfy's list of emojis.
std::string_view ntfy_tag(Urgency urgency) {
  switch (urgency) {
    case Urgency::kCritical: return "rotating_light";
    case Urgency::kWarning: return "warning";
    case Urgency::kInfo: return "information_source";
    case Urgency::kOver: return "white_check_mark";
  }
  return "warning";
}

/// From 8 on, Gotify's client for Android makes a sound and shows it over everything.
int gotify_priority(Urgency urgency) {
  switch (urgency) {
    case Urgency::kCritical: return 8;
    case Urgency::kWarning: return 5;
    case Urgency::kInfo: return 2;
    case Urgency::kOver: return 4;
  }
  return 5;
}

}  // namespace

std::vector<ServiceCall> ntfy_calls(const ServiceNotice& given) {
  // JSON goes to the server's root, with the topic in it.
  const std::string& url = given.options.url;
  const std::size_t slash = url.rfind('/');
  const Urgency urgency = urgency_of(given.notice);
  json::object body{{"topic", url.substr(slash + 1)},
                    {"title", cut(notice_title(given.notice), kTitle)},
                    {"message", cut(message_of(given), kNtfyText)},
                    {"priority", ntfy_priority(urgency)},
                    {"tags", json::array{ntfy_tag(urgency)}}};
  ServiceCall made{json_call(url.substr(0, slash + 1), body, given.options)};
  if (!given.options.token.text.empty()) {
    made.call.headers.emplace_back("Authorization", "Bearer " + given.options.token.text);
  }
  return {std::move(made)};
}

std::vector<ServiceCall> gotify_calls(const ServiceNotice& given) {
  json::object body{{"title", cut(notice_title(given.notice), kTitle)},
                    {"message", cut(message_of(given), kGotifyText)},
                    {"priority", gotify_priority(urgency_of(given.notice))},
                    {"extras", {{"client::display", {{"contentType", "text/plain"}}}}}};
  ServiceCall made{json_call(given.options.url + "/message", body, given.options)};
  made.call.headers.emplace_back("X-Gotify-Key", given.options.token.text);
  return {std::move(made)};
}

}  // namespace wardmote::act::notify
