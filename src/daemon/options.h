#pragma once

#include <expected>
#include <optional>
#include <string>

#include "base/log.h"
#include "daemon/config_command.h"
#include "daemon/guest_probe.h"
#include "daemon/reconcile_command.h"
#include "net/log_line.h"

namespace wardmote::daemon {

/// The command line of wardmoted.
struct Options {
  std::string config = "/etc/wardmote/wardmote.yaml";
  /// Verify the journal in this folder, and end; empty: in that of the configuration.
  std::optional<std::string> journal;
  bool journal_rows = false;                ///< print its rows instead
  std::optional<ConfigOrder> order;         ///< do this with the configuration, and end
  std::optional<ReconcileOrder> reconcile;  ///< do this, and end
  std::optional<GuestProbeOrder> probe;     ///< ask this guest, and end
  LogLevel log_level = LogLevel::kInfo;
  net::LogFormat log_format = net::LogFormat::kKeyValue;
};

/// What to do instead of running: --help, --version, or a usage error.
struct Farewell {
  int exit_code = 0;  ///< 0 or 64
  std::string text;   ///< for standard output when the code is 0, else for standard error
};

std::expected<Options, Farewell> parse_options(int argc, const char* const* argv);

}  // namespace wardmote::daemon
