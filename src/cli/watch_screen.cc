#include "cli/watch_screen.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "base/format.h"
#include "base/text.h"
#include "cli/output.h"

namespace wardmote::cli {
namespace {

// Switches to the alternate screen, hides the cursor and stops wrapping long lines; and back.
constexpr std::string_view kEnter = "\x1b[?1049h\x1b[?25l\x1b[?7l";
constexpr std::string_view kLeave = "\x1b[?7h\x1b[?25h\x1b[?1049l";

std::size_t screen_rows() {
  winsize size{};
  // NOLINTNEXTLINE(misc-include-cleaner): TIOCGWINSZ is of <sys/ioctl.h>, ioctl_tty(2)
  const bool known = ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0;
  return known ? size.ws_row : 24;
}

}  // namespace

std::string redraw(std::string_view frame, std::string_view footer, std::size_t rows) {
  // Lines are overwritten and their rests cleared. Clearing the whole screen would flicker.
  std::string bytes = "\x1b[H";
  for (std::size_t row = 1; row < rows && !frame.empty(); ++row) {
    bytes += take_until(frame, '\n');
    bytes += "\x1b[0m\x1b[K\r\n";
  }
  return bytes + fmt::format("\x1b[J{}{}", frame.empty() ? "" : "… ", footer);
}

WatchScreen::WatchScreen(bool terminal) : terminal_(terminal) {
  if (terminal_) print(kEnter);
}

WatchScreen::~WatchScreen() {
  if (terminal_) print(fmt::format("{}{}", kLeave, last_));
}

void WatchScreen::show(std::string frame, std::string_view footer) {
  print(terminal_ ? redraw(frame, footer, screen_rows()) : frame);
  last_ = std::move(frame);
}

}  // namespace wardmote::cli
