#include "judge/notify/regex.h"

#include <regex.h>

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "base/text.h"

namespace wardmote::judge::notify {
namespace {

constexpr std::size_t kLongest = 256;

/// How far the opening of a set at `at` reaches beyond its `[`.
std::size_t opening_of_set(std::string_view pattern, std::size_t at) {
  const auto has = [&](std::size_t place, char c) {
    return place < pattern.size() && pattern[place] == c;
  };
  // `[]a]` and `[^]a]` have a bracket as their first member.
  const std::size_t negated = has(at + 1, '^') ? 1 : 0;
  return negated + (has(at + 1 + negated, ']') ? 1 : 0);
}

/// What POSIX does not know of what follows a backslash; empty: nothing.
std::string_view refused_escape(char escaped) {
  if (escaped >= '0' && escaped <= '9') return "back references are not supported";
  if (escaped == 'd' || escaped == 'D') return "\\d is not supported; write [0-9]";
  return {};
}

/// What POSIX reads in another way than its writer meant, or what costs too much; empty: nothing.
std::string_view refused(std::string_view pattern) {
  if (pattern.size() > kLongest) return "it is longer than 256 bytes";
  if (pattern.contains('\0')) return "it has a NUL";
  bool in_set = false;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const char c = pattern[i];
    const char next = i + 1 < pattern.size() ? pattern[i + 1] : '\0';
    if (in_set) {
      in_set = c != ']';
      continue;
    }
    if (c == '[') {
      in_set = true;
      i += opening_of_set(pattern, i);
    } else if (c == '{') {
      return "counts in braces are not supported; write aa or aaa*";
    } else if (c == '(' && next == '?') {
      return "groups that begin with (? are not supported";
    } else if (c == '\\') {
      if (const std::string_view why = refused_escape(next); !why.empty()) return why;
      ++i;
    }
  }
  return {};
}

}  // namespace

struct Regex::Compiled {
  Compiled() = default;
  Compiled(const Compiled&) = delete;
  Compiled& operator=(const Compiled&) = delete;
  ~Compiled() {
    if (good) regfree(&program);
  }

  regex_t program{};
  bool good = false;
};

Regex::Regex(std::string_view pattern, std::shared_ptr<const Compiled> compiled)
    : pattern_(pattern), compiled_(std::move(compiled)) {}

Result<Regex> Regex::compile(std::string_view pattern) {
  if (const std::string_view why = refused(pattern); !why.empty()) {
    return fail(Errc::kInvalid, "regular expression '{}': {}", escape_control(pattern, 64), why);
  }
  const auto compiled = std::make_shared<Compiled>();
  const std::string whole = "^(" + std::string(pattern) + ")$";
  const int error = regcomp(&compiled->program, whole.c_str(), REG_EXTENDED | REG_NOSUB);
  if (error != 0) {
    std::array<char, 128> why{};
    regerror(error, &compiled->program, why.data(), why.size());
    return fail(Errc::kInvalid, "regular expression '{}': {}", escape_control(pattern, 64),
                why.data());
  }
  compiled->good = true;
  return Regex(pattern, compiled);
}

bool Regex::matches(std::string_view text) const {
  // With REG_STARTEND the text needs no NUL at its end and may have some in it.
  regmatch_t range{.rm_so = 0, .rm_eo = static_cast<regoff_t>(text.size())};
  const char* const begin = text.empty() ? "" : text.data();
  return regexec(&compiled_->program, begin, 0, &range, REG_STARTEND) == 0;
}

}  // namespace wardmote::judge::notify
