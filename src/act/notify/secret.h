#pragma once

#include <string>

namespace wardmote::act::notify {

/// A secret of a receiver. The configuration names the file; whoever makes the channel reads it.
struct Secret {
  std::string file;  ///< absolute; empty: there is no secret
  std::string text;  ///< its only line; empty until it was read. Never shown
  friend bool operator==(const Secret&, const Secret&) = default;
};

}  // namespace wardmote::act::notify
