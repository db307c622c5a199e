#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/log.h"
#include "base/time.h"

namespace wardmote::net {

enum class LogFormat : std::uint8_t { kKeyValue, kJson };

/// One event as one line with its end. Values are capped and escaped, so that no text from outside
/// can make a second line.
///   at=2026-11-20T07:52:35.125Z level=info event=gate_opened gate=ready failing=""
///   {"at":"2026-11-20T07:52:35.125Z","level":"info","event":"gate_opened","gate":"ready","failing":""}
std::string log_line(LogFormat format, WallTime at, LogLevel level, std::string_view event,
                     std::span<const LogField> fields);

}  // namespace wardmote::net
