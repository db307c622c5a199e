#include "codec/ovsdb_log.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/epoch_ms.h"
#include "base/text.h"
#include "base/time.h"

namespace wardmote::codec {
namespace {

// Inside a text of the database the quotes would be escaped, so this is never a part of one.
constexpr std::string_view kDate = R"("_date":)";

}  // namespace

std::optional<WallTime> last_change(std::string_view tail) noexcept {
  const std::size_t found = tail.rfind(kDate);
  if (found == std::string_view::npos) return std::nullopt;
  const std::string_view rest = tail.substr(found + kDate.size());
  const std::size_t end = rest.find_first_not_of("0123456789");
  // A number at the very end may go on.
  if (end == std::string_view::npos) return std::nullopt;
  const auto milliseconds = parse_number<std::int64_t>(rest.substr(0, end));
  return milliseconds ? moment_of_epoch_ms(*milliseconds) : std::nullopt;
}

}  // namespace wardmote::codec
