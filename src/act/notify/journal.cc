#include "act/notify/journal.h"

#include <boost/json/serialize.hpp>
#include <expected>
#include <string>
#include <utility>
#include <vector>

#include "act/notify/channel.h"
#include "act/notify/payload.h"
#include "base/result.h"
#include "base/text.h"
#include "codec/journal.h"
#include "judge/finding.h"
#include "judge/incident/incident.h"
#include "judge/notify/notice.h"
#include "judge/notify/router.h"
#include "runtime/deadline.h"
#include "runtime/task.h"
#include "store/clock_pair.h"

namespace wardmote::act::notify {

using judge::Severity;
using judge::incident::Phase;
using judge::notify::Notice;
using judge::notify::NoticeItem;
using judge::notify::Refusal;
using runtime::Deadline;
using runtime::Task;

namespace {

/// Syslog's priority: critical 2, warning 4, notice 5; by the gravest open incident.
const char* priority(const Notice& notice) {
  const char* gravest = "5";
  for (const NoticeItem& item : notice.items) {
    if (item.incident.phase == Phase::kResolved) continue;
    if (item.incident.severity == Severity::kCritical) return "2";
    if (item.incident.severity == Severity::kWarning) gravest = "4";
  }
  return gravest;
}

}  // namespace

Task<DeliveryResult> JournalChannel::send(Notice notice, Deadline) {
  const store::ClockPair clock{runtime_.now(), runtime_.wall_now()};
  std::vector<std::pair<std::string, std::string>> fields = {
      {"MESSAGE", notice_title(notice)},
      {"PRIORITY", priority(notice)},
      {"SYSLOG_IDENTIFIER", "wardmoted"},
      {"WARDMOTE_RECEIVER", notice.receiver},
      {"WARDMOTE_KEY", escape_control(notice.key())},
      {"WARDMOTE_STATUS", any_open(notice) ? "open" : "resolved"},
  };
  for (const NoticeItem& item : notice.items) {
    fields.emplace_back("WARDMOTE_INCIDENT", std::to_string(item.incident.id));
    fields.emplace_back("WARDMOTE_ROOT", escape_control(item.incident.root));
    fields.emplace_back("WARDMOTE_CODE", to_string(item.incident.code));
  }
  fields.emplace_back("WARDMOTE_NOTICE", boost::json::serialize(notice_json(notice, clock)));
  const Result<void> sent = journal_->send(codec::format_journal(fields));
  if (sent) co_return DeliveryResult();
  co_return std::unexpected(Refusal{false, {}, sent.error().describe()});
}

}  // namespace wardmote::act::notify
