#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "act/notify/channel.h"
#include "act/notify/secret.h"
#include "base/time.h"
#include "judge/notify/notice.h"
#include "runtime/deadline.h"
#include "runtime/mail_client.h"
#include "runtime/runtime.h"
#include "runtime/task.h"

namespace wardmote::act::notify {

struct MailOptions {
  std::string server;  ///< host:port
  runtime::MailCall::Tls tls = runtime::MailCall::Tls::kStartTls;
  std::string trust;
  std::string user;  ///< empty: nobody logs in
  Secret password;
  std::string from;
  std::vector<std::string> to;
  friend bool operator==(const MailOptions&, const MailOptions&) = default;
};

/// Sends the notice as mail. A repetition has the same Message-ID, so that mail servers and readers
/// can show one message; all notices of a group are one thread. A refused recipient costs the
/// others nothing: one who is refused for now is retried alone, for kPatience at most, because the
/// group's next notice waits meanwhile.
class MailChannel final : public Channel {
 public:
  /// `node` is our own name in EHLO.
  MailChannel(runtime::Runtime& runtime, runtime::MailClient& mail, MailOptions options,
              std::string node)
      : runtime_(runtime), mail_(mail), options_(std::move(options)), node_(std::move(node)) {}
  runtime::Task<DeliveryResult> send(judge::notify::Notice notice,
                                     runtime::Deadline deadline) override;

  static constexpr Duration kPatience = std::chrono::minutes(10);

 private:
  /// The recipients of a group who have yet to get a notice.
  struct Rest {
    std::uint64_t number = 0;
    TimePoint since;
    std::vector<std::string> to;
    std::vector<std::string> complaints;  ///< recipients who will never get it
  };
  [[nodiscard]] Rest rest_of(const judge::notify::Notice& notice) const;
  DeliveryResult take(const judge::notify::Notice& notice, Rest rest,
                      const runtime::MailReceipt& receipt);

  std::map<std::string, Rest> rests_;  // by group
  runtime::Runtime& runtime_;
  runtime::MailClient& mail_;
  MailOptions options_;
  std::string node_;
};

}  // namespace wardmote::act::notify
