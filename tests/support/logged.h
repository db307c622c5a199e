#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.h"

namespace wardmote::testing {

/// Keeps what is logged while this lives, instead of printing it.
class Logged {
 public:
  Logged() { set_log_sink(std::make_unique<Sink>(*this)); }
  Logged(const Logged&) = delete;
  Logged& operator=(const Logged&) = delete;
  ~Logged() { set_log_sink(nullptr); }

  /// Each event as `name key=value …`.
  [[nodiscard]] const std::vector<std::string>& lines() const { return lines_; }
  /// The number of lines that begin so.
  [[nodiscard]] long count(std::string_view beginning) const {
    return std::ranges::count_if(
        lines_, [&](const std::string& line) { return line.starts_with(beginning); });
  }
  /// The levels of the lines that begin so.
  [[nodiscard]] std::vector<LogLevel> levels(std::string_view beginning) const {
    std::vector<LogLevel> found;
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      if (lines_[i].starts_with(beginning)) found.push_back(levels_[i]);
    }
    return found;
  }

 private:
  struct Sink final : LogSink {
    explicit Sink(Logged& keeper) : to(keeper) {}
    void write(LogLevel level, std::string_view event, std::span<const LogField> fields) override {
      std::string line(event);
      for (const LogField& field : fields) line += " " + std::string(field.key) + "=" + field.value;
      to.lines_.push_back(std::move(line));
      to.levels_.push_back(level);
    }
    Logged& to;
  };

  std::vector<std::string> lines_;
  std::vector<LogLevel> levels_;
};

}  // namespace wardmote::testing
