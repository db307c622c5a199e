#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"

namespace wardmote::codec {

/// A report that was pushed, in one of two forms:
///
///   JSON          {"live": true, "ready": false, "detail": "waiting for the datastore",
///                  "timeout": "30s"}; all members are optional, no others are allowed
///   sd_notify(3)  READY=1 · STOPPING=1 · RELOADING=1 · WATCHDOG=1 · WATCHDOG=trigger ·
///                 WATCHDOG_USEC= · STATUS= · ERRNO=; others are passed over
///
/// What a message does not say is as it was before.
struct ReportMessage {
  std::optional<bool> live;
  std::optional<bool> ready;
  std::optional<std::string> detail;
  std::optional<Duration> timeout;  ///< 0: for ever
  friend bool operator==(const ReportMessage&, const ReportMessage&) = default;
};

inline constexpr std::size_t kLargestReport = 16 << 10;

/// A message that begins with `{` is JSON. kProtocol, and kLimit over kLargestReport. A detail is
/// cut after 4096 bytes.
Result<ReportMessage> parse_report_message(std::string_view bytes);

}  // namespace wardmote::codec
