#include "act/notify/mail.h"

#include <expected>
#include <string>
#include <string_view>
#include <utility>

#include "act/notify/channel.h"
#include "act/notify/payload.h"
#include "base/format.h"
#include "base/result.h"
#include "codec/mail.h"
#include "judge/notify/notice.h"
#include "judge/notify/router.h"
#include "runtime/deadline.h"
#include "runtime/mail_client.h"
#include "runtime/task.h"
#include "store/clock_pair.h"

namespace wardmote::act::notify {

using judge::notify::Notice;
using judge::notify::Refusal;
using runtime::Deadline;
using runtime::MailCall;
using runtime::Task;

Task<Fate> MailChannel::send(Notice notice, Deadline deadline) {
  const store::ClockPair clock{runtime_.now(), runtime_.wall_now()};
  std::string_view domain = options_.from;
  domain.remove_prefix(domain.rfind('@') + 1);
  codec::MailMessage message;
  message.from = options_.from;
  message.to = options_.to;
  message.subject = notice_title(notice);
  message.message_id = codec::mail_id(options_.node + " " + notice.key(), domain);
  message.thread_id = codec::mail_id(options_.node + " " + notice.group, domain);
  message.date = clock.wall_now;
  message.text = fmt::format("{}\n{}\n-- \nWardmote on {}, notice {}\n", notice_title(notice),
                             notice_text(notice, clock), options_.node, notice.key());
  MailCall call;
  call.server = options_.server;
  call.tls = options_.tls;
  call.trust = options_.trust;
  call.user = options_.user;
  call.password = options_.password;
  call.helo = options_.node;
  call.from = options_.from;
  call.to = options_.to;
  call.message = codec::format_mail(message);
  const Result<void> sent = co_await mail_.send(std::move(call), deadline);
  if (sent) co_return Fate();
  const bool for_ever = sent.error().code == Errc::kRejected || sent.error().code == Errc::kInvalid;
  co_return std::unexpected(Refusal{for_ever, {}, sent.error().describe()});
}

}  // namespace wardmote::act::notify
