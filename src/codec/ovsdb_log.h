#pragma once

#include <optional>
#include <string_view>

#include "base/time.h"

namespace wardmote::codec {

/// When the last transaction of a database file was written, from the end of the file (ovsdb(5):
/// each record of the log has `_date`, in milliseconds of the writer's clock). Nothing when `tail`
/// does not contain a whole date, as in the middle of a huge record.
std::optional<WallTime> last_change(std::string_view tail) noexcept;

}  // namespace wardmote::codec
