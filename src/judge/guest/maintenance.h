#pragma once

#include <optional>
#include <string_view>

#include "base/time.h"

namespace wardmote::judge::guest {

/// When work on a guest is expected, so that nobody is told of it: once, or again and again.
struct Window {
  WallTime begin;     ///< of the first
  Duration length{};  ///< shorter than `every`
  Duration every{};   ///< from one begin to the next; zero: there is only one
  friend bool operator==(const Window&, const Window&) = default;
};

bool is_open(const Window& window, WallTime now) noexcept;
/// `2026-11-25T02:00:00Z for 2h`, or `2026-11-25T02:00:00Z for 2h every 168h`, in UTC. Nothing for
/// any other text, and when a window is not longer than a second, or not over before the next.
std::optional<Window> parse_window(std::string_view text) noexcept;

}  // namespace wardmote::judge::guest
