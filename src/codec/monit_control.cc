#include "codec/monit_control.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"

namespace wardmote::codec {
namespace {

constexpr std::string_view kSpace = " \t\r\n\v\f";
/// Each is a word, or the begin of one of two signs: `<=`, `!=`, `==`.
constexpr std::string_view kSigns = "{},;=<>!";

class Splitter {
 public:
  explicit Splitter(std::string_view text) : rest_(text) {}

  Result<MonitFile> split() && {
    while (skip()) {
      const char c = rest_.front();
      if (c == '"' || c == '\'') {
        if (!quoted(c)) return fail(Errc::kInvalid, "line {}: the quote {} does not end", line_, c);
      } else if (kSigns.contains(c)) {
        const std::size_t length = rest_.size() > 1 && rest_[1] == '=' ? 2 : 1;
        put(rest_.substr(0, length), '\0');
        rest_.remove_prefix(length);
      } else {
        bare();
      }
    }
    return std::move(file_);
  }

 private:
  /// Over white space and comments; false at the end.
  bool skip() {
    while (!rest_.empty()) {
      if (rest_.front() == '#') {
        glued_ = false;
        rest_.remove_prefix(std::min(rest_.find('\n'), rest_.size()));
      } else if (kSpace.contains(rest_.front())) {
        if (rest_.front() == '\n') ++line_;
        glued_ = false;
        rest_.remove_prefix(1);
      } else {
        return true;
      }
    }
    return false;
  }

  bool quoted(char quote) {
    const std::size_t end = rest_.find(quote, 1);
    if (end == std::string_view::npos) return false;
    const std::string_view text = rest_.substr(1, end - 1);
    put(text, quote);
    line_ += static_cast<std::size_t>(std::ranges::count(text, '\n'));
    rest_.remove_prefix(end + 1);
    return true;
  }

  /// A path or an address may have signs: only white space and what separates words end it.
  void bare() {
    const std::size_t end = std::min(rest_.find_first_of(" \t\r\n\v\f{},;<>=!\"'"), rest_.size());
    const bool is_url = rest_.substr(0, end).contains("://");
    const std::size_t until = is_url ? std::min(rest_.find_first_of(kSpace), rest_.size()) : end;
    put(rest_.substr(0, until), '\0');
    rest_.remove_prefix(until);
  }

  void put(std::string_view text, char quote) {
    const bool is_quoted = quote != '\0';
    MonitWord word{std::string(text), quote, std::exchange(glued_, true), line_};
    if (std::exchange(includes_, false)) return file_.includes.push_back(std::move(word));
    if (!is_quoted && is_word(text, "include")) {
      includes_ = true;
      return;
    }
    const bool begins = !is_quoted && (is_word(text, "set") || is_word(text, "check"));
    if (begins || file_.statements.empty()) file_.statements.emplace_back();
    file_.statements.back().words.push_back(std::move(word));
  }

  /// Keywords may be in upper case.
  static bool is_word(std::string_view text, std::string_view word) {
    return std::ranges::equal(text, word, [](char a, char b) { return (a | 0x20) == b; });
  }

  std::string_view rest_;
  std::size_t line_ = 1;
  MonitFile file_;
  bool glued_ = false;     ///< nothing stands between the last word and the next one
  bool includes_ = false;  ///< the next word is a pattern of files
};

}  // namespace

Result<MonitFile> parse_monit_control(std::string_view text) {
  if (text.size() > kLargestMonitFile)
    return fail(Errc::kLimit, "{} bytes, more than {}", text.size(), kLargestMonitFile);
  if (text.contains('\0')) return fail(Errc::kInvalid, "a zero byte");
  return Splitter(text).split();
}

}  // namespace wardmote::codec
