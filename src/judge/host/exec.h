#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "judge/judgement.h"

namespace wardmote::judge {

/// One measured value of a plugin (Monitoring Plugins Development Guidelines, Performance data).
struct Measured {
  std::string label;
  double value = 0;
  std::string unit;  ///< s, %, B, KB, c, …; may be empty
  friend bool operator==(const Measured&, const Measured&) = default;
};

/// The result of a command.
struct ExecFacts {
  int exit_code = 0;  ///< or 128 + signal
  std::string text;   ///< its first line, without the performance data
  std::vector<Measured> measured;
};

/// What an exit code means.
enum class ExitStyle : std::uint8_t {
  kPlugin,  ///< 0 ok, 1 warning, 2 critical, others unknown (monitoring plugins, Nagios)
  kScript,  ///< 0 ok, others critical
  kConsul,  ///< 0 ok, 1 warning, others critical
  kNpd,     ///< 0 ok, 1 critical, others unknown (node-problem-detector)
};

/// Of `plugin`, `script`, `consul`, `npd`.
std::optional<ExitStyle> exit_style_of(std::string_view name) noexcept;

/// Pure. A command that a signal ended says nothing about its subject, in every style.
Judgement judge_exec(const ExecFacts& facts, ExitStyle style);

}  // namespace wardmote::judge
