#include "cli/output.h"

#include <unistd.h>

#include <algorithm>
#include <boost/json/serialize.hpp>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

#include "base/format.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/environment.h"
#include "cli/exit_code.h"
#include "cli/render/style.h"

namespace wardmote::cli {
namespace {

bool knows_colour() {
  const std::string terminal = environment("TERM");
  return ::isatty(STDOUT_FILENO) == 1 && !terminal.empty() && terminal != "dumb";
}

void append_escaped(std::string& line, std::uint32_t code_point) {
  if (code_point >= 0x10000) {
    const std::uint32_t rest = code_point - 0x10000;
    line += fmt::format("\\u{:04x}\\u{:04x}", 0xd800 + (rest >> 10), 0xdc00 + (rest & 0x3ff));
  } else {
    line += fmt::format("\\u{:04x}", code_point);
  }
}

void print_to(std::FILE* stream, std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stream);
  std::fflush(stream);
}

}  // namespace

Style style_for(const Call& call) {
  return {.color = !call.has("no-color") && environment("NO_COLOR").empty() && knows_colour(),
          .wide = call.value("output") == "wide"};
}

std::string json_line(const boost::json::value& value) {
  return escape_for_terminal(boost::json::serialize(value));
}

std::string escape_for_terminal(std::string_view text) {
  std::string line;
  line.reserve(text.size());
  for (std::string_view rest = text; !rest.empty();) {
    const CodePoint c = decode_utf8(rest);
    const std::size_t length = std::max<std::size_t>(c.length, 1);
    if (c.length == 0) {
      append_escaped(line, 0xfffd);
    } else if (is_hostile(c.value)) {
      append_escaped(line, c.value);
    } else {
      line += rest.substr(0, length);
    }
    rest.remove_prefix(length);
  }
  return line;
}

void print(std::string_view text) {
  print_to(stdout, text);
}

void print_error(std::string_view text) {
  print_to(stderr, text);
}

Exit complain(const Call& call, Exit exit, std::string_view message) {
  print_error(fmt::format("{}: {}\n", spelled(call.path()), message));
  return exit;
}

}  // namespace wardmote::cli
