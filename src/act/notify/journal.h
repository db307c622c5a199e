#pragma once

#include <memory>
#include <utility>

#include "act/notify/channel.h"
#include "judge/notify/notice.h"
#include "runtime/deadline.h"
#include "runtime/journal.h"
#include "runtime/runtime.h"
#include "runtime/task.h"

namespace wardmote::act::notify {

/// A receiver `journal`: there is nothing to choose.
struct JournalOptions {
  friend bool operator==(const JournalOptions&, const JournalOptions&) = default;
};

/// Writes the notice into systemd's journal, with fields to search by: WARDMOTE_RECEIVER,
/// WARDMOTE_KEY, WARDMOTE_STATUS, WARDMOTE_INCIDENT, WARDMOTE_ROOT and WARDMOTE_CODE (one of each
/// for each incident), and WARDMOTE_NOTICE, the notice as JSON. Retried while there is no journal.
class JournalChannel final : public Channel {
 public:
  JournalChannel(runtime::Runtime& runtime, std::unique_ptr<runtime::Journal> journal)
      : runtime_(runtime), journal_(std::move(journal)) {}
  runtime::Task<DeliveryResult> send(judge::notify::Notice notice,
                                     runtime::Deadline deadline) override;

 private:
  runtime::Runtime& runtime_;
  std::unique_ptr<runtime::Journal> journal_;
};

}  // namespace wardmote::act::notify
