#pragma once

#include <string>

#include "base/result.h"
#include "config/config.h"
#include "incidents/notifier.h"
#include "runtime/http_client.h"
#include "runtime/mail_client.h"
#include "runtime/runtime.h"

namespace wardmote::daemon {

/// What receivers are made with. The clients may be null when no receiver needs them.
struct ReceiverNeeds {
  runtime::HttpClient* http = nullptr;
  runtime::MailClient* mail = nullptr;
  std::string node;        ///< how the agent calls itself
  std::string pod_server;  ///< of the cluster in which the agent is a pod; empty: it is none
};

/// The receivers of a configuration, with their secrets read from their files. kMissing, kDenied or
/// kInvalid names the file, never what is in it; kInvalid too when a client is missing. What it is
/// given outlives the result.
Result<incidents::NotifierOptions> make_receivers(const config::Notify& notify,
                                                  runtime::Runtime& runtime,
                                                  const ReceiverNeeds& needs);

/// Why make_receivers() would fail: one line for each receiver that cannot be made.
std::vector<std::string> receiver_problems(const config::Notify& notify, runtime::Runtime& runtime,
                                           const ReceiverNeeds& needs);

}  // namespace wardmote::daemon
