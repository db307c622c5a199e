#include <algorithm>
#include <boost/json/serialize.hpp>
#include <expected>
#include <string>
#include <utility>

#include "act/notify/channel.h"
#include "act/notify/channels.h"
#include "act/notify/payload.h"
#include "base/format.h"
#include "base/log.h"
#include "base/result.h"
#include "base/text.h"
#include "judge/notify/notice.h"
#include "judge/notify/router.h"
#include "runtime/deadline.h"
#include "runtime/process.h"
#include "runtime/task.h"

namespace wardmote::act::notify {

using judge::notify::Notice;
using judge::notify::Refusal;
using runtime::Deadline;
using runtime::Task;

namespace {

/// Exit codes of sysexits.h after which the same input would fail again.
constexpr int kForEver[] = {64, 65, 77, 78};

}  // namespace

Task<DeliveryResult> LogChannel::send(Notice notice, Deadline) {
  log(any_open(notice) ? LogLevel::kWarning : LogLevel::kInfo, "notification",
      {{"receiver", notice.receiver}, {"key", notice.key()}, {"title", notice_title(notice)}});
  co_return DeliveryResult();
}

Task<DeliveryResult> ExecChannel::send(Notice notice, Deadline deadline) {
  runtime::ProcessSpec spec;
  spec.argv = options_.command;
  spec.standard_input =
      boost::json::serialize(notice_json(notice, {runtime_.now(), runtime_.wall_now()})) + "\n";
  const auto ended = co_await runtime_.processes().run(std::move(spec), deadline);
  if (!ended) {
    const bool for_ever = ended.error().code == Errc::kMissing ||
                          ended.error().code == Errc::kDenied ||
                          ended.error().code == Errc::kInvalid;
    co_return std::unexpected(Refusal{for_ever, {}, ended.error().describe()});
  }
  if (ended->status == 0) co_return DeliveryResult();
  const bool for_ever = std::ranges::find(kForEver, ended->status) != std::end(kForEver);
  co_return std::unexpected(
      Refusal{for_ever,
              {},
              fmt::format("{} ended with {}: {}", options_.command.front(), ended->status,
                          escape_control(trim(ended->standard_error), 200))});
}

}  // namespace wardmote::act::notify
