#include "cli/command.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/text.h"
#include "base/time.h"

namespace wardmote::cli {

std::string Call::value(std::string_view name) const {
  const auto found = values_.find(name);
  return found == values_.end() || found->second.empty() ? std::string{} : found->second.back();
}

std::vector<std::string> Call::values(std::string_view name) const {
  const auto found = values_.find(name);
  return found == values_.end() ? std::vector<std::string>{} : found->second;
}

Result<Duration> Call::duration(std::string_view name, Duration fallback) const {
  if (!has(name)) return fallback;
  const std::string text = value(name);
  const std::optional<Duration> parsed = parse_duration(text);
  if (!parsed)
    return fail(Errc::kInvalid, "--{}: '{}' is not a duration; write 900ms, 20s, 5m or 1h", name,
                text);
  return *parsed;
}

Result<std::int64_t> Call::integer(std::string_view name, std::int64_t fallback) const {
  if (!has(name)) return fallback;
  const std::string text = value(name);
  const auto parsed = parse_number<std::int64_t>(text);
  if (!parsed) return fail(Errc::kInvalid, "--{}: '{}' is not a whole number", name, text);
  return *parsed;
}

std::string spelled(std::span<const Command* const> path) {
  std::string words;
  for (const Command* command : path) {
    if (!words.empty()) words += ' ';
    words += command->name;
  }
  return words;
}

}  // namespace wardmote::cli
