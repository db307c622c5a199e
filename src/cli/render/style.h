#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace wardmote::cli {

/// What a piece of text means. Colour only repeats what the words say.
enum class Tone : std::uint8_t { kPlain, kGood, kWarning, kCritical, kUnknown, kFaint, kStrong };

struct Style {
  bool color = false;
  bool wide = false;  ///< with the additional columns of `wide`
};

/// How many columns `text` takes on a terminal; it contains no control characters. Wide characters
/// take two, combining ones none.
std::size_t display_width(std::string_view text) noexcept;

/// `text` in the colour of `tone`, or as it is.
std::string paint(Style style, Tone tone, std::string_view text);

struct Cell {
  std::string text;
  Tone tone = Tone::kPlain;
};

/// Left-aligned columns, two spaces apart. An empty cell shows as `-`.
class Table {
 public:
  explicit Table(std::vector<std::string> headings) : headings_(std::move(headings)) {}

  /// As many cells as headings.
  void add(std::vector<Cell> row);
  [[nodiscard]] bool empty() const noexcept { return rows_.empty(); }
  /// Headings and rows, one line each.
  [[nodiscard]] std::string draw(Style style) const;

 private:
  std::vector<std::string> headings_;
  std::vector<std::vector<Cell>> rows_;
};

}  // namespace wardmote::cli
