#include "act/notify/services/service.h"

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <cstddef>
#include <expected>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "act/notify/channel.h"
#include "act/notify/channels.h"
#include "act/notify/payload.h"
#include "act/notify/services/requests.h"
#include "act/notify/template.h"
#include "base/format.h"
#include "base/result.h"
#include "base/text.h"
#include "codec/digest.h"
#include "judge/finding.h"
#include "judge/notify/matcher.h"
#include "judge/notify/notice.h"
#include "judge/notify/router.h"
#include "runtime/deadline.h"
#include "runtime/http.h"
#include "runtime/http_client.h"
#include "runtime/task.h"
#include "store/clock_pair.h"

namespace wardmote::act::notify {

namespace json = boost::json;
using judge::notify::Notice;
using judge::notify::NoticeItem;
using judge::notify::Refusal;
using runtime::Deadline;
using runtime::HttpCall;
using runtime::HttpResponse;
using runtime::Task;

namespace {

constexpr std::size_t kLongestKey = 255;  // PagerDuty's limit; OpsGenie's is 512

std::string_view without_topic(std::string_view url) {
  const std::size_t slash = url.rfind('/');
  const bool has_one = slash > url.find("://") + 2 && slash + 1 < url.size();
  return has_one ? "" : "it has no topic: write for example https://ntfy.sh/TOPIC";
}

constexpr Service kServices[] = {
    {.name = "slack",
     .help = "Slack, by an incoming webhook",
     .url = {"url", "The address of the webhook, which is a secret"},
     .url_is_secret = true,
     .takes_text = true,
     .calls = slack_calls},
    {.name = "teams",
     .help = "Microsoft Teams, by a webhook of its Workflows",
     .url = {"url", "The address of the workflow's webhook, which is a secret"},
     .url_is_secret = true,
     .takes_text = true,
     .calls = teams_calls},
    {.name = "pagerduty",
     .help = "PagerDuty's Events API v2",
     .url = {"url", "Another server, for example https://events.eu.pagerduty.com"},
     .its_url = "https://events.pagerduty.com",
     .token = {"routing_key_file", "The absolute path of the integration key",
               "routing_key_file: /etc/wardmote/pagerduty.key"},
     .calls = pagerduty_calls},
    {.name = "opsgenie",
     .help = "OpsGenie's Alert API",
     .url = {"url", "Another server, for example https://api.eu.opsgenie.com"},
     .its_url = "https://api.opsgenie.com",
     .token = {"key_file", "The absolute path of the key of an API integration",
               "key_file: /etc/wardmote/opsgenie.key"},
     .to = {"team", "The team that responds; without one, that of the integration"},
     .calls = opsgenie_calls},
    {.name = "ntfy",
     .help = "ntfy",
     .url = {"url", "The address of the topic, for example https://ntfy.sh/TOPIC"},
     .url_is_secret = true,
     .url_problem = without_topic,
     .token = {"token_file", "The absolute path of an access token"},
     .takes_text = true,
     .calls = ntfy_calls},
    {.name = "gotify",
     .help = "Gotify",
     .url = {"url", "The address of the server", "url: https://gotify.example.org"},
     .token = {"token_file", "The absolute path of the application's token",
               "token_file: /etc/wardmote/gotify.token"},
     .takes_text = true,
     .calls = gotify_calls},
    {.name = "telegram",
     .help = "Telegram, by a bot",
     .url = {"url", "Another server of the Bot API"},
     .its_url = "https://api.telegram.org",
     .token = {"token_file", "The absolute path of the bot's token",
               "token_file: /etc/wardmote/telegram.token"},
     .to = {"chat", "A number in quotes, or @channel", "chat: \"-1001234567890\""},
     .takes_text = true,
     .calls = telegram_calls},
    {.name = "matrix",
     .help = "A room of Matrix",
     .url = {"url", "The address of the homeserver", "url: https://matrix.example.org"},
     .token = {"token_file", "The absolute path of an access token",
               "token_file: /etc/wardmote/matrix.token"},
     .to = {"room", "The id of the room, not its alias", "room: \"!abc:example.org\""},
     .takes_text = true,
     .calls = matrix_calls},
};

static_assert(std::size(kServices) == kServiceCount);

bool unreserved(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '.' || c == '_' || c == '~';
}

}  // namespace

std::span<const Service> services() noexcept {
  return kServices;
}

HttpCall json_call(std::string url, const json::object& body, const ServiceOptions& options) {
  HttpCall call;
  call.url = std::move(url);
  call.trust = options.trust;
  call.headers.emplace_back("Content-Type", "application/json");
  call.body = json::serialize(body);
  return call;
}

std::string message_of(const ServiceNotice& given) {
  if (given.options.text.empty()) return notice_text(given.notice, given.clock);
  return fill_template(given.options.text, notice_json(given.notice, given.clock),
                       TemplateOf::kPlainText);
}

std::string cut(std::string_view text, std::size_t most) {
  constexpr std::string_view kMissing = "…";
  if (text.size() <= most) return std::string(text);
  std::size_t end = most < kMissing.size() ? 0 : most - kMissing.size();
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0U) == 0x80U) --end;
  return std::string(text.substr(0, end)) + std::string(kMissing);
}

std::string incident_key(const NoticeItem& item) {
  const judge::notify::Labels& labels = item.known_as.empty() ? item.labels : item.known_as;
  const auto label = [&](std::string_view name) {
    const auto found = labels.find(name);
    return found == labels.end() ? std::string() : escape_control(found->second);
  };
  std::string key =
      fmt::format("wardmote/{}/{}/{}", label("node"), item.incident.id, label("root"));
  if (key.size() <= kLongestKey) return key;
  return "wardmote/" + codec::hex(codec::sha256(key));
}

std::string percent_encoded(std::string_view text) {
  std::string encoded;
  for (const char c : text) {
    if (unreserved(c)) {
      encoded += c;
    } else {
      encoded += fmt::format("%{:02X}", static_cast<unsigned>(static_cast<unsigned char>(c)));
    }
  }
  return encoded;
}

Urgency urgency_of(const Notice& notice) {
  if (!any_open(notice)) return Urgency::kOver;
  switch (foremost(notice).incident.severity) {
    case judge::Severity::kInfo: return Urgency::kInfo;
    case judge::Severity::kWarning: return Urgency::kWarning;
    case judge::Severity::kCritical: return Urgency::kCritical;
  }
  return Urgency::kWarning;
}

Task<DeliveryResult> ServiceChannel::send(Notice notice, Deadline deadline) {
  const store::ClockPair clock{runtime_.now(), runtime_.wall_now()};
  std::vector<ServiceCall> calls = options_.service->calls({notice, options_, clock});
  std::optional<Refusal> for_good;
  for (ServiceCall& each : calls) {
    const Result<HttpResponse> answer = co_await http_.call(std::move(each.call), deadline);
    if (answer && each.also_good != 0 && answer->status == each.also_good) continue;
    const DeliveryResult result = delivery_result(answer, runtime_.wall_now());
    if (result) continue;
    if (!result.error().for_ever) co_return result;
    if (!for_good) for_good = result.error();
  }
  if (for_good) co_return std::unexpected(*std::move(for_good));
  co_return DeliveryResult();
}

}  // namespace wardmote::act::notify
