#pragma once

#include <expected>
#include <optional>
#include <string>
#include <utility>

#include "act/notify/channel.h"
#include "act/notify/masakari_client.h"
#include "judge/notify/notice.h"
#include "runtime/deadline.h"
#include "runtime/http_client.h"
#include "runtime/runtime.h"
#include "runtime/task.h"

namespace wardmote::act::notify {

/// Masakari's `POST /notifications`. Sends the beginning and the end of a process or a host, and
/// the beginning of an instance; nothing twice, unless an answer was lost. 202 and 409 mean
/// delivered: 409 says that Masakari knows, or that the host is in maintenance. 400 is given up:
/// the host is in no segment, or there is no such instance.
class MasakariChannel final : public Channel {
 public:
  MasakariChannel(runtime::Runtime& runtime, runtime::HttpClient& http, MasakariOptions options)
      : runtime_(runtime), client_(runtime, http, std::move(options)) {}
  runtime::Task<DeliveryResult> send(judge::notify::Notice notice,
                                     runtime::Deadline deadline) override;

 private:
  runtime::Task<DeliveryResult> send_item(judge::notify::NoticeItem item,
                                          runtime::Deadline deadline);
  /// The notification for Masakari; nothing when none is to be sent.
  [[nodiscard]] std::expected<std::optional<std::string>, judge::notify::Refusal> body_of(
      const judge::notify::NoticeItem& item) const;

  runtime::Runtime& runtime_;
  MasakariClient client_;
};

}  // namespace wardmote::act::notify
