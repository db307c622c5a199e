#include "act/notify/mail.h"

#include <cstddef>
#include <expected>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

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

namespace {

/// How many groups may have recipients that are retried. For further groups, all recipients get the
/// repetition.
constexpr std::size_t kMostRests = 1000;

}  // namespace

Task<DeliveryResult> MailChannel::send(Notice notice, Deadline deadline) {
  const store::ClockPair clock{runtime_.now(), runtime_.wall_now()};
  std::string_view domain = options_.from;
  domain.remove_prefix(domain.rfind('@') + 1);
  codec::MailMessage message;
  message.from = options_.from;
  message.to = options_.to;
  message.subject = notice_title(notice);
  message.message_id = codec::mail_id(node_ + " " + notice.key(), domain);
  message.thread_id = codec::mail_id(node_ + " " + notice.group, domain);
  message.date = clock.wall_now;
  message.text = fmt::format("{}\n{}\n-- \nWardmote on {}, notice {}\n", notice_title(notice),
                             notice_text(notice, clock), node_, notice.key());
  MailCall call;
  call.server = options_.server;
  call.tls = options_.tls;
  call.trust = options_.trust;
  call.user = options_.user;
  call.password = options_.password.text;
  call.helo = node_;
  call.from = options_.from;
  Rest rest = rest_of(notice);
  call.to = rest.to;
  call.message = codec::format_mail(message);
  const Result<runtime::MailReceipt> sent = co_await mail_.send(std::move(call), deadline);
  if (sent) co_return take(notice, std::move(rest), *sent);
  const bool for_ever = sent.error().code == Errc::kRejected || sent.error().code == Errc::kInvalid;
  co_return std::unexpected(Refusal{for_ever, {}, sent.error().describe()});
}

MailChannel::Rest MailChannel::rest_of(const Notice& notice) const {
  const auto found = rests_.find(notice.group);
  if (found != rests_.end() && found->second.number == notice.number) return found->second;
  return {notice.number, runtime_.now(), options_.to, {}};
}

DeliveryResult MailChannel::take(const Notice& notice, Rest rest,
                                 const runtime::MailReceipt& receipt) {
  rests_.erase(notice.group);
  rest.to.clear();
  std::vector<std::string> later;
  for (const runtime::MailRefusal& refusal : receipt.refused) {
    std::string complaint = fmt::format("{}: {}", refusal.address, refusal.answer);
    (refusal.for_ever ? rest.complaints : later).push_back(std::move(complaint));
    if (!refusal.for_ever) rest.to.push_back(refusal.address);
  }
  std::vector<std::string> all = rest.complaints;
  all.insert(all.end(), later.begin(), later.end());
  if (all.empty()) return {};
  std::string told =
      fmt::format("mail by {}: refused for {}", options_.server, fmt::join(all, "; "));
  // While no recipient has the message, giving up early gains nothing.
  const bool some_have_it = all.size() < options_.to.size();
  const bool patient = !some_have_it || runtime_.now() - rest.since < kPatience;
  if (!later.empty() && patient) {
    if (rests_.size() >= kMostRests) rests_.erase(rests_.begin());
    rests_[notice.group] = std::move(rest);
    return std::unexpected(Refusal{false, {}, std::move(told)});
  }
  if (!some_have_it) return std::unexpected(Refusal{true, {}, std::move(told)});
  return Delivered{std::move(told)};
}

}  // namespace wardmote::act::notify
