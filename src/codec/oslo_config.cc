#include "codec/oslo_config.h"

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/text.h"

namespace wardmote::codec {
namespace {

std::string_view unquoted(std::string_view value) noexcept {
  const bool quoted = value.size() >= 2 && value.front() == value.back() &&
                      (value.front() == '"' || value.front() == '\'');
  return quoted ? value.substr(1, value.size() - 2) : value;
}

class Reader {
 public:
  explicit Reader(OsloConfig& into) : config_(into) {}

  void line(std::string_view line, std::size_t number) {
    while (line.ends_with('\r')) line.remove_suffix(1);
    const std::string_view text = trim(line);
    const bool continues = line.starts_with(' ') || line.starts_with('\t');
    const bool comments = line.starts_with('#') || line.starts_with(';');
    if (text.empty() || comments) {
      open_ = false;
    } else if (continues) {
      if (!open_) return broken(number);
      config_.options.back().value += " " + std::string(text);
    } else if (line.front() == '[') {
      begin_group(text, number);
    } else {
      assign(text, number);
    }
  }

 private:
  void broken(std::size_t number) {
    open_ = false;
    config_.broken.push_back(number);
  }

  void begin_group(std::string_view text, std::size_t number) {
    open_ = false;
    const std::size_t end = text.find(']');
    if (end == std::string_view::npos || end == 1) return broken(number);
    group_ = text.substr(1, end - 1);
  }

  void assign(std::string_view text, std::size_t number) {
    const std::size_t sign = text.find_first_of(":=");
    if (group_.empty() || sign == std::string_view::npos || sign == 0) return broken(number);
    const std::string_view value = unquoted(trim(text.substr(sign + 1)));
    config_.options.push_back(
        {group_, std::string(trim(text.substr(0, sign))), std::string(value), number});
    open_ = true;
  }

  OsloConfig& config_;
  std::string group_;
  bool open_ = false;  ///< the next line may continue the last option
};

}  // namespace

Result<OsloConfig> parse_oslo_config(std::string_view text) {
  if (text.size() > kLargestOsloConfig)
    return fail(Errc::kLimit, "a configuration of {} bytes", text.size());
  OsloConfig config;
  Reader reader(config);
  std::size_t number = 0;
  while (!text.empty()) reader.line(take_until(text, '\n'), ++number);
  return config;
}

const OsloOption* find_option(const OsloConfig& config, std::string_view group,
                              std::string_view name) noexcept {
  const OsloOption* found = nullptr;
  for (const OsloOption& option : config.options) {
    if (option.group == group && option.name == name) found = &option;
  }
  return found;
}

}  // namespace wardmote::codec
