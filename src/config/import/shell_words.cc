#include "config/import/shell_words.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace wardmote::config {
namespace {

class Splitter {
 public:
  explicit Splitter(std::string_view line) : line_(line) {}

  ShellWords split() && {
    for (at_ = 0; at_ < line_.size(); ++at_) one(line_[at_]);
    end_word();
    if (quote_ != 0) result_.needs_shell = true;
    return std::move(result_);
  }

 private:
  void one(char c) {
    if (quote_ == 0 && std::string_view(" \t\r\n").contains(c)) return end_word();
    if (c == quote_) {
      quote_ = 0;
    } else if (quote_ == 0 && (c == '"' || c == '\'')) {
      quote_ = c;
      open();
    } else if (c == '\\' && quote_ != '\'') {
      escaped();
    } else {
      look(c);
      put(c);
    }
  }

  void escaped() {
    const char next = at_ + 1 < line_.size() ? line_[at_ + 1] : '\0';
    const bool escapes = quote_ == 0 || std::string_view("\"\\$`").contains(next);
    if (!escapes || next == '\0') return put('\\');
    ++at_;
    put(next);
  }

  /// What only a shell can do.
  void look(char c) {
    const std::string_view special = quote_ == 0 ? "|<>&;()*?[]{}~#`$" : "`$";
    if (quote_ != '\'' && special.contains(c)) result_.needs_shell = true;
  }

  void open() {
    if (!word_) word_.emplace();
  }
  void put(char c) {
    open();
    *word_ += c;
  }
  void end_word() {
    if (word_) result_.words.push_back(*std::exchange(word_, std::nullopt));
  }

  std::string_view line_;
  std::size_t at_ = 0;
  char quote_ = 0;
  std::optional<std::string> word_;
  ShellWords result_;
};

}  // namespace

ShellWords shell_words(std::string_view line) {
  return Splitter(line).split();
}

std::vector<std::string> monit_words(std::string_view line) {
  constexpr std::string_view kSpace = " \t\r\n";
  std::vector<std::string> words;
  while (true) {
    line.remove_prefix(std::min(line.find_first_not_of(kSpace), line.size()));
    if (line.empty()) return words;
    const std::size_t bare = std::min(line.find_first_of(kSpace), line.size());
    const std::size_t end = line.front() == '\'' ? line.find('\'', 1) : std::string_view::npos;
    // Its lexer takes what is longer: `'a b'` is one word, `'a'b` one with both quotes.
    const bool joined = end != std::string_view::npos && end + 1 >= bare;
    words.emplace_back(joined ? line.substr(1, end - 1) : line.substr(0, bare));
    line.remove_prefix(joined ? end + 1 : bare);
  }
}

}  // namespace wardmote::config
