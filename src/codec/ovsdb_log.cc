#include "codec/ovsdb_log.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/text.h"
#include "base/time.h"

namespace wardmote::codec {
namespace {

// Inside a text of the database the quotes would be escaped, so this is never a part of one.
constexpr std::string_view kDate = R"("_date":)";
/// The year 2262: nanoseconds do not go further.
constexpr std::int64_t kLastMillisecond = INT64_MAX / 1'000'000;

}  // namespace

std::optional<WallTime> last_change(std::string_view tail) noexcept {
  const std::size_t found = tail.rfind(kDate);
  if (found == std::string_view::npos) return std::nullopt;
  const std::string_view rest = tail.substr(found + kDate.size());
  const std::size_t end = rest.find_first_not_of("0123456789");
  // A number at the very end may go on.
  if (end == std::string_view::npos) return std::nullopt;
  const auto milliseconds = parse_number<std::int64_t>(rest.substr(0, end));
  if (!milliseconds || *milliseconds > kLastMillisecond) return std::nullopt;
  return WallTime(std::chrono::milliseconds(*milliseconds));
}

}  // namespace wardmote::codec
