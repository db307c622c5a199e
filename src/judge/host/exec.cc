#include "judge/host/exec.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include "base/format.h"
#include "judge/judgement.h"
#include "judge/outcome.h"

namespace wardmote::judge {
namespace {

/// Shells, and our own runtime/process.h, use codes above this for signals.
constexpr int kSignals = 128;
/// SIGRTMAX. 255 is not a signal: ssh exits with it.
constexpr int kLastSignal = 64;

struct Style {
  std::string_view name;
  ExitStyle style;
  Outcome one;
  Outcome two;
  Outcome other;
};
constexpr Style kStyles[] = {
    {"plugin", ExitStyle::kPlugin, Outcome::kWarn, Outcome::kFail, Outcome::kUnknown},
    {"script", ExitStyle::kScript, Outcome::kFail, Outcome::kFail, Outcome::kFail},
    {"consul", ExitStyle::kConsul, Outcome::kWarn, Outcome::kFail, Outcome::kFail},
    {"npd", ExitStyle::kNpd, Outcome::kFail, Outcome::kUnknown, Outcome::kUnknown},
};

Outcome outcome_of(int exit_code, const Style& style) noexcept {
  switch (exit_code) {
    case 0: return Outcome::kOk;
    case 1: return style.one;
    case 2: return style.two;
    default: return exit_code > kSignals ? Outcome::kUnknown : style.other;
  }
}

}  // namespace

std::optional<ExitStyle> exit_style_of(std::string_view name) noexcept {
  const auto* const found = std::ranges::find(kStyles, name, &Style::name);
  if (found == std::end(kStyles)) return std::nullopt;
  return found->style;
}

Judgement judge_exec(const ExecFacts& facts, ExitStyle style) {
  const auto* const row = std::ranges::find(kStyles, style, &Style::style);
  const Outcome outcome = outcome_of(facts.exit_code, *row);
  if (outcome == Outcome::kOk) return {};
  const bool by_signal = facts.exit_code > kSignals && facts.exit_code <= kSignals + kLastSignal;
  const std::string how = by_signal ? fmt::format("ended by signal {}", facts.exit_code - kSignals)
                                    : fmt::format("exit code {}", facts.exit_code);
  return {outcome,
          {ReasonCode::kState, facts.text.empty() ? how : fmt::format("{}: {}", how, facts.text)}};
}

}  // namespace wardmote::judge
