#include "judge/reconcile/diff.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/format.h"
#include "base/text.h"

namespace wardmote::judge::reconcile {
namespace {

constexpr std::size_t kAround = 3;
/// Of the table for the longest common part.
constexpr std::size_t kMostCells = 4'000'000;

using Lines = std::vector<std::string_view>;

Lines lines_of(std::string_view text) {
  if (text.ends_with('\n')) text.remove_suffix(1);
  if (text.empty()) return {};
  return split(text, '\n');
}

struct Edit {
  char sign;  ///< ' ', '-' or '+'
  std::string_view line;
};

/// The edits of the part where the texts differ, by the longest common subsequence.
void append_changed(const Lines& before, const Lines& after, std::vector<Edit>& edits) {
  const std::size_t rows = before.size();
  const std::size_t columns = after.size();
  if ((rows + 1) * (columns + 1) > kMostCells) {
    for (const std::string_view line : before) edits.push_back({'-', line});
    for (const std::string_view line : after) edits.push_back({'+', line});
    return;
  }
  // common[r][c]: of before[r..] and after[c..].
  std::vector<std::uint32_t> common((rows + 1) * (columns + 1));
  const auto cell = [&](std::size_t r, std::size_t c) -> std::uint32_t& {
    return common[(r * (columns + 1)) + c];
  };
  for (std::size_t r = rows; r-- > 0;) {
    for (std::size_t c = columns; c-- > 0;) {
      cell(r, c) =
          before[r] == after[c] ? cell(r + 1, c + 1) + 1 : std::max(cell(r + 1, c), cell(r, c + 1));
    }
  }
  std::size_t r = 0;
  std::size_t c = 0;
  while (r < rows || c < columns) {
    if (r < rows && c < columns && before[r] == after[c]) {
      edits.push_back({' ', before[r]});
      ++r;
      ++c;
    } else if (r < rows && (c == columns || cell(r + 1, c) >= cell(r, c + 1))) {
      edits.push_back({'-', before[r++]});
    } else {
      edits.push_back({'+', after[c++]});
    }
  }
}

std::vector<Edit> edits_of(const Lines& before, const Lines& after) {
  const std::size_t shorter = std::min(before.size(), after.size());
  std::size_t head = 0;
  while (head < shorter && before[head] == after[head]) ++head;
  std::size_t tail = 0;
  while (tail < shorter - head &&
         before[before.size() - 1 - tail] == after[after.size() - 1 - tail])
    ++tail;
  std::vector<Edit> edits;
  edits.reserve(before.size());
  for (std::size_t at = 0; at < head; ++at) edits.push_back({' ', before[at]});
  const auto middle = [head, tail](const Lines& all) {
    return Lines(all.begin() + static_cast<std::ptrdiff_t>(head),
                 all.end() - static_cast<std::ptrdiff_t>(tail));
  };
  append_changed(middle(before), middle(after), edits);
  for (std::size_t at = before.size() - tail; at < before.size(); ++at)
    edits.push_back({' ', before[at]});
  return edits;
}

std::string range_text(std::size_t first, std::size_t count) {
  // As diff(1): an empty range is named by the line before it.
  const std::size_t shown = count == 0 ? first - 1 : first;
  return count == 1 ? fmt::format("{}", shown) : fmt::format("{},{}", shown, count);
}

}  // namespace

std::string unified_diff(std::string_view name, std::string_view before, std::string_view after) {
  if (before == after) return {};
  const std::vector<Edit> edits = edits_of(lines_of(before), lines_of(after));
  std::string text = fmt::format("--- {}\n+++ {}\n", before.empty() ? "/dev/null" : name,
                                 after.empty() ? "/dev/null" : name);
  std::size_t at = 0;
  std::size_t old_line = 1;
  std::size_t new_line = 1;
  const auto count_until = [&](std::size_t end) {
    for (; at < end; ++at) {
      old_line += edits[at].sign == '+' ? 0 : 1;
      new_line += edits[at].sign == '-' ? 0 : 1;
    }
  };
  for (;;) {
    std::size_t change = at;
    while (change < edits.size() && edits[change].sign == ' ') ++change;
    if (change == edits.size()) return text;
    count_until(std::max(at, change - std::min(change, kAround)));
    // The hunk ends where more lines are the same than two surroundings have.
    std::size_t last = change;
    for (std::size_t look = change; look < edits.size() && look <= last + (2 * kAround) + 1;
         ++look) {
      if (edits[look].sign != ' ') last = look;
    }
    const std::size_t begin = at;
    const std::size_t end = std::min(edits.size(), last + 1 + kAround);
    const std::size_t old_first = old_line;
    const std::size_t new_first = new_line;
    count_until(end);
    text += fmt::format("@@ -{} +{} @@\n", range_text(old_first, old_line - old_first),
                        range_text(new_first, new_line - new_first));
    for (std::size_t line = begin; line < end; ++line)
      text += fmt::format("{}{}\n", edits[line].sign, edits[line].line);
  }
}

}  // namespace wardmote::judge::reconcile
