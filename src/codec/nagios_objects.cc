#include "codec/nagios_objects.h"

#include <algorithm>
#include <cstddef>
#include <expected>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "base/text.h"

namespace wardmote::codec {
namespace {

/// Up to the first `;` that no backslash escapes; `\;` becomes `;`.
std::string without_comment(std::string_view line) {
  std::string kept;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\\' && i + 1 < line.size() && line[i + 1] == ';') {
      kept += line[++i];
    } else if (line[i] == ';') {
      break;
    } else {
      kept += line[i];
    }
  }
  return kept;
}

/// One line, with those that continue it: a backslash at the end takes the next one, without the
/// space at its front.
std::string take_line(std::string_view& rest, std::size_t& number) {
  std::string whole;
  while (true) {
    std::string_view line = take_until(rest, '\n');
    ++number;
    while (line.ends_with('\r')) line.remove_suffix(1);
    if (!whole.empty()) line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    const bool continues = line.ends_with('\\') && !line.ends_with("\\\\") && !rest.empty();
    if (continues) line.remove_suffix(1);
    whole += line;
    if (!continues) return whole;
  }
}

class Reader {
 public:
  Result<void> line(std::string_view text, std::size_t number) {
    if (is_definition(text)) return begin(text, number);
    if (!open_) {
      setting(text, number);
    } else if (text == "}") {
      open_ = false;
    } else {
      directive(text);
    }
    return {};
  }

  Result<NagiosFile> take() && {
    if (open_)
      return fail(Errc::kInvalid, "line {}: the definition does not end: add a line with }}",
                  file_.objects.back().line);
    return std::move(file_);
  }

 private:
  static bool is_definition(std::string_view text) {
    return consume_prefix(text, "define") && !text.empty() && (text[0] == ' ' || text[0] == '\t');
  }

  Result<void> begin(std::string_view text, std::size_t number) {
    if (open_)
      return fail(Errc::kInvalid,
                  "line {}: a definition within the one of line {}: end that with }}", number,
                  file_.objects.back().line);
    text.remove_prefix(std::string_view("define").size());
    text = trim(text);
    const std::size_t end = std::min(text.find_first_of(" \t{"), text.size());
    file_.objects.push_back({std::string(text.substr(0, end)), number, {}});
    open_ = true;
    return {};
  }

  void directive(std::string_view text) {
    const std::size_t end = std::min(text.find_first_of(" \t"), text.size());
    file_.objects.back().directives.emplace_back(text.substr(0, end), trim(text.substr(end)));
  }

  void setting(std::string_view text, std::size_t number) {
    const std::size_t sign = text.find('=');
    if (sign == std::string_view::npos || sign == 0) {
      file_.broken.push_back(number);
    } else {
      file_.settings.push_back({std::string(trim(text.substr(0, sign))),
                                std::string(trim(text.substr(sign + 1))), number});
    }
  }

  NagiosFile file_;
  bool open_ = false;
};

}  // namespace

Result<NagiosFile> parse_nagios_objects(std::string_view text) {
  if (text.size() > kLargestNagiosFile)
    return fail(Errc::kLimit, "{} bytes, more than {}", text.size(), kLargestNagiosFile);
  if (text.contains('\0')) {
    const std::size_t before = text.find('\0');
    return fail(Errc::kInvalid, "line {}: a zero byte",
                std::ranges::count(text.substr(0, before), '\n') + 1);
  }
  Reader reader;
  std::size_t number = 0;
  while (!text.empty()) {
    const std::size_t first = number + 1;
    const std::string whole = take_line(text, number);
    if (trim(whole).starts_with('#')) continue;
    const std::string kept = without_comment(whole);
    const std::string_view line = trim(kept);
    if (line.empty()) continue;
    if (auto good = reader.line(line, first); !good) return std::unexpected(good.error());
  }
  return std::move(reader).take();
}

}  // namespace wardmote::codec
