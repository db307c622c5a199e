#pragma once

#include <string>
#include <string_view>

namespace wardmote::cli {

/// Shows frame after frame. On a terminal it uses the alternate screen, redraws in place in one
/// write and without flicker, and leaves the last frame behind when it ends; elsewhere one frame
/// follows the other.
class WatchScreen {
 public:
  /// `terminal`: whether standard output is a terminal, and frames are for people.
  explicit WatchScreen(bool terminal);
  WatchScreen(const WatchScreen&) = delete;
  WatchScreen& operator=(const WatchScreen&) = delete;
  ~WatchScreen();

  /// `frame` ends with a line end; `footer` is for terminals only.
  void show(std::string frame, std::string_view footer);

 private:
  bool terminal_;
  std::string last_;
};

/// The text that redraws a screen of `rows` lines with `frame`, cut to fit, and `footer` in the
/// last line.
std::string redraw(std::string_view frame, std::string_view footer, std::size_t rows);

}  // namespace wardmote::cli
