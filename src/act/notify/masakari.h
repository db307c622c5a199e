#pragma once

#include <cstdint>
#include <expected>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "act/notify/channel.h"
#include "act/notify/masakari_client.h"
#include "base/time.h"
#include "judge/notify/notice.h"
#include "runtime/deadline.h"
#include "runtime/http_client.h"
#include "runtime/runtime.h"
#include "runtime/task.h"

namespace wardmote::act::notify {

/// Masakari's `POST /notifications`. Sends the beginning and the end of a process or a host, and
/// the beginning of an instance; nothing twice, unless an answer was lost. 202 and 409 mean
/// delivered: 409 says that Masakari knows, or that the host is in maintenance; an instance of
/// which it knows an earlier failure is named in Delivered::dropped. 400 is given up: the host is
/// in no segment, or there is no such instance.
class MasakariChannel final : public Channel {
 public:
  MasakariChannel(runtime::Runtime& runtime, runtime::HttpClient& http, MasakariOptions options)
      : runtime_(runtime), client_(runtime, http, std::move(options)) {}
  runtime::Task<DeliveryResult> send(judge::notify::Notice notice,
                                     runtime::Deadline deadline) override;

 private:
  [[nodiscard]] std::vector<judge::notify::NoticeItem> apart(
      const judge::notify::NoticeItem& item) const;
  /// `number` is that of its notice.
  runtime::Task<DeliveryResult> send_item(judge::notify::NoticeItem item, std::uint64_t number,
                                          runtime::Deadline deadline);
  /// Whether Masakari has a notification of the instance from that time.
  runtime::Task<bool> knows(std::string uuid, WallTime at, runtime::Deadline deadline);
  [[nodiscard]] WallTime generated(const judge::notify::NoticeItem& item, const std::string& uuid,
                                   std::uint64_t number) const;
  /// The notification for Masakari; nothing when none is to be sent.
  [[nodiscard]] std::expected<std::optional<std::string>, judge::notify::Refusal> body_of(
      const judge::notify::NoticeItem& item, WallTime at) const;

  runtime::Runtime& runtime_;
  MasakariClient client_;
  // By instance, in this life of the agent.
  std::map<std::string, TimePoint> taken_;        ///< when Masakari took its last notification
  std::map<std::string, std::uint64_t> dropped_;  ///< the number of the notice that it dropped
};

}  // namespace wardmote::act::notify
