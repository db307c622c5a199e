#pragma once

#include <string>
#include <utility>
#include <vector>

#include "act/notify/channel.h"
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
  std::string user;
  std::string password;  ///< secret
  std::string from;
  std::vector<std::string> to;
  std::string node;  ///< how we call ourselves
};

/// Sends the notice as mail. A repetition has the same Message-ID, so that mail servers and readers
/// that look at it show one; all notices of a group are one thread.
class MailChannel final : public Channel {
 public:
  MailChannel(runtime::Runtime& runtime, runtime::MailClient& mail, MailOptions options)
      : runtime_(runtime), mail_(mail), options_(std::move(options)) {}
  runtime::Task<Fate> send(judge::notify::Notice notice, runtime::Deadline deadline) override;

 private:
  runtime::Runtime& runtime_;
  runtime::MailClient& mail_;
  MailOptions options_;
};

}  // namespace wardmote::act::notify
