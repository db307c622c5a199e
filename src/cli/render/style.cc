#include "cli/render/style.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/format.h"
#include "base/text.h"

namespace wardmote::cli {
namespace {

struct Range {
  std::uint32_t first;
  std::uint32_t last;
};

// The big blocks of Unicode's East Asian Width W and F, and of its combining marks. Names of
// members and addresses are ASCII; for other texts one column too many does no harm.
constexpr Range kWide[] = {{0x1100, 0x115f},   {0x2e80, 0x303e},   {0x3041, 0xa4cf},
                           {0xac00, 0xd7a3},   {0xf900, 0xfaff},   {0xfe30, 0xfe6f},
                           {0xff00, 0xff60},   {0xffe0, 0xffe6},   {0x1f300, 0x1f64f},
                           {0x1f680, 0x1f6ff}, {0x1f900, 0x1f9ff}, {0x20000, 0x3fffd}};
constexpr Range kCombining[] = {
    {0x0300, 0x036f}, {0x0483, 0x0489}, {0x0591, 0x05bd}, {0x064b, 0x065f}, {0x1ab0, 0x1aff},
    {0x1dc0, 0x1dff}, {0x20d0, 0x20ff}, {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f}, {0xe0100, 0xe01ef}};

bool among(std::span<const Range> ranges, std::uint32_t c) noexcept {
  return std::ranges::any_of(
      ranges, [c](const Range& range) { return c >= range.first && c <= range.last; });
}

std::string_view escape_of(Tone tone) noexcept {
  switch (tone) {
    case Tone::kPlain: return "";
    case Tone::kGood: return "\x1b[32m";
    case Tone::kWarning: return "\x1b[33m";
    case Tone::kCritical: return "\x1b[1;31m";
    case Tone::kUnknown: return "\x1b[35m";
    case Tone::kFaint: return "\x1b[2m";
    case Tone::kStrong: return "\x1b[1m";
  }
  return "";
}

}  // namespace

std::size_t display_width(std::string_view text) noexcept {
  std::size_t width = 0;
  while (!text.empty()) {
    const CodePoint c = decode_utf8(text);
    if (!among(kCombining, c.value)) width += among(kWide, c.value) ? 2 : 1;
    text.remove_prefix(std::max<std::size_t>(c.length, 1));
  }
  return width;
}

std::string paint(Style style, Tone tone, std::string_view text) {
  const std::string_view escape = style.color ? escape_of(tone) : "";
  return escape.empty() ? std::string(text) : fmt::format("{}{}\x1b[0m", escape, text);
}

void Table::add(std::vector<Cell> row) {
  check(row.size() == headings_.size(), "a table row of the wrong length");
  for (Cell& cell : row) {
    if (cell.text.empty()) cell.text = "-";
  }
  rows_.push_back(std::move(row));
}

std::string Table::draw(Style style) const {
  std::vector<std::size_t> widths;
  widths.reserve(headings_.size());
  for (const std::string& heading : headings_) widths.push_back(display_width(heading));
  for (const std::vector<Cell>& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], display_width(row[i].text));
  }

  std::string drawn;
  const auto draw_cell = [&](std::size_t column, std::string_view text, Tone tone) {
    drawn += paint(style, tone, text);
    const bool last = column + 1 == headings_.size();
    drawn += last ? "\n" : std::string(widths[column] - display_width(text) + 2, ' ');
  };
  for (std::size_t i = 0; i < headings_.size(); ++i) draw_cell(i, headings_[i], Tone::kFaint);
  for (const std::vector<Cell>& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) draw_cell(i, row[i].text, row[i].tone);
  }
  return drawn;
}

}  // namespace wardmote::cli
