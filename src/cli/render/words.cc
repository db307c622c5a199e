#include "cli/render/words.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/format.h"
#include "base/time.h"
#include "cli/render/style.h"

namespace wardmote::cli {
namespace {

bool plain_for_a_shell(std::string_view word) noexcept {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%";
  return !word.empty() && word.find_first_not_of(kPlain) == std::string_view::npos;
}

}  // namespace

Cell verdict_word(std::string_view verdict) {
  if (verdict == "ok") return {"HEALTHY", Tone::kGood};
  if (verdict == "warning") return {"DEGRADED", Tone::kWarning};
  if (verdict == "critical") return {"CRITICAL", Tone::kCritical};
  return {"UNKNOWN", Tone::kUnknown};
}

Tone tone_of_outcome(std::string_view outcome) noexcept {
  if (outcome == "ok") return Tone::kGood;
  if (outcome == "warn") return Tone::kWarning;
  return outcome == "fail" ? Tone::kCritical : Tone::kUnknown;
}

Cell severity_word(std::string_view severity) {
  if (severity == "critical") return {"CRITICAL", Tone::kCritical};
  if (severity == "warning") return {"WARNING", Tone::kWarning};
  return {severity == "info" ? "INFO" : "UNKNOWN", Tone::kPlain};
}

std::string counted(std::size_t count, std::string_view singular) {
  return fmt::format("{} {}{}", count, singular, count == 1 ? "" : "s");
}

std::string duration_text(std::optional<std::int64_t> ms) {
  if (!ms) return {};
  constexpr std::int64_t kMost = std::chrono::milliseconds(std::chrono::years(100)).count();
  return format_duration(std::chrono::milliseconds(std::clamp<std::int64_t>(*ms, 0, kMost)));
}

std::string shell_line(const std::vector<std::string>& argv) {
  std::string line;
  for (const std::string& word : argv) {
    if (!line.empty()) line += ' ';
    if (plain_for_a_shell(word)) {
      line += word;
      continue;
    }
    line += '\'';
    for (const char c : word) line += c == '\'' ? std::string("'\\''") : std::string(1, c);
    line += '\'';
  }
  return line;
}

}  // namespace wardmote::cli
