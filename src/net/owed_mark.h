#pragma once

#include <string>

#include "base/result.h"

namespace wardmote::net {

/// A mark in a folder that says: something was not written down. A full disk takes no record, but a
/// file can still be renamed there; so the mark is the name of an empty file, which is made
/// beforehand. Thread: any.
class OwedMark {
 public:
  /// Makes the file if needed. kExhausted: the disk is full, and there is none.
  static Result<OwedMark> open(const std::string& folder);
  /// Whether an earlier process left the mark set.
  [[nodiscard]] bool was_set() const noexcept { return was_set_; }
  /// It holds when the process ends; a machine that loses its power soon after may lose it.
  Result<void> set(bool owed);

 private:
  OwedMark(std::string folder, bool was_set) : folder_(std::move(folder)), was_set_(was_set) {}

  std::string folder_;
  bool was_set_ = false;
};

}  // namespace wardmote::net
