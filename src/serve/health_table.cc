#include "serve/health_table.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"

namespace wardmote::serve {
namespace {

constexpr std::size_t kColumns = 5;
constexpr std::size_t kDetailCap = 512;
using Cells = std::array<std::string, kColumns>;
using Widths = std::array<std::size_t, kColumns>;

/// Code points; a character wider than one column is rare in a detail and only moves the border.
std::size_t width(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U; }));
}

std::string border(const Widths& widths) {
  std::string line = "+";
  for (const std::size_t one : widths) line += std::string(one + 2, '-') + "+";
  return line;
}

std::string line_of(const Cells& cells, const Widths& widths) {
  std::string line = "|";
  for (std::size_t i = 0; i < kColumns; ++i) {
    line += " " + cells[i] + std::string(widths[i] - width(cells[i]), ' ') + " |";
  }
  return line;
}

}  // namespace

std::string draw_health_table(std::vector<HealthRow> rows) {
  std::ranges::sort(rows, {}, &HealthRow::component);
  std::vector<Cells> lines = {{"COMPONENT", "TIMEOUT", "LIVENESS", "READINESS", "DETAIL"}};
  for (const HealthRow& row : rows) {
    Cells cells = {row.component, row.timeout, row.liveness, row.readiness, {}};
    for (const std::string_view detail : split(row.detail, '\n')) {
      cells.back() = escape_control(detail, kDetailCap);
      lines.push_back(cells);
      cells = {};
    }
  }
  Widths widths{};
  for (const Cells& cells : lines) {
    for (std::size_t i = 0; i < kColumns; ++i) widths[i] = std::max(widths[i], width(cells[i]));
  }
  const std::string rule = border(widths);
  std::string table = rule + "\n" + line_of(lines.front(), widths) + "\n" + rule + "\n";
  for (std::size_t i = 1; i < lines.size(); ++i) table += line_of(lines[i], widths) + "\n";
  return table + rule;
}

}  // namespace wardmote::serve
