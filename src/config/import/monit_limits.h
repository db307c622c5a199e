#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/import/monit_service.h"

namespace wardmote::config {

/// `memory > 100 MB`.
struct MonitComparison {
  std::string subject;  ///< the words in front: `memory`, `space free`, `change time`
  std::string sign;     ///< of `<`, `<=`, `>`, `>=`, `=` and `!=`
  std::int64_t value = 0;
  std::string unit;
};

/// `>` of `>`, `gt`, `greater` and `older`; empty for what is no sign.
std::string_view monit_sign(std::string_view word);

/// Nothing when the test is anything else, or more.
std::optional<MonitComparison> monit_comparison(const MonitTest& test);

/// In bytes: Monit's MB are 1024 kB.
std::optional<std::int64_t> monit_bytes(const MonitComparison& comparison);
/// In seconds.
std::optional<std::int64_t> monit_seconds(const MonitComparison& comparison);
/// `64MiB`.
std::string spell_bytes(std::int64_t bytes);

/// The good values of a status, as `200-399`: those below 1000 for which `sign value` holds. None
/// when there is none, or the sign is not known.
std::vector<std::string> monit_statuses(std::string_view sign, std::int64_t value);

}  // namespace wardmote::config
