#include "net/log_line.h"

#include <algorithm>
#include <cctype>

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "base/log.h"
#include "base/text.h"
#include "base/time.h"

namespace wardmote::net {
namespace {

constexpr std::size_t kValueCap = 1024;

std::string_view level_name(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug: return "debug";
    case LogLevel::kInfo: return "info";
    case LogLevel::kWarning: return "warning";
    case LogLevel::kError: return "error";
  }
  return "info";
}

bool is_bare(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return std::isalnum(byte) != 0 || std::string_view("._-:/@+,[]").contains(c);
}

/// A value in key=value form: quoted unless it is one plain word.
std::string quote(std::string_view raw) {
  std::string safe = escape_control(raw, kValueCap);
  if (!safe.empty() && std::ranges::all_of(safe, is_bare)) return safe;
  std::string quoted = "\"";
  for (const char c : safe) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + '"';
}

}  // namespace

std::string log_line(LogFormat format, WallTime at, LogLevel level, std::string_view event,
                     std::span<const LogField> fields) {
  if (format == LogFormat::kJson) {
    boost::json::object line;
    line["at"] = format_utc(at);
    line["level"] = level_name(level);
    line["event"] = event;
    for (const LogField& field : fields) line[field.key] = escape_control(field.value, kValueCap);
    return boost::json::serialize(line) + "\n";
  }
  std::string line = "at=" + format_utc(at);
  line.append(" level=").append(level_name(level)).append(" event=").append(event);
  for (const LogField& field : fields)
    line.append(" ").append(field.key).append("=").append(quote(field.value));
  return line + "\n";
}

}  // namespace wardmote::net
