#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "base/time.h"
#include "runtime/files.h"

namespace wardmote::observe {

/// A file that is asked for again and again and seldom changes: as long as it is the same one in
/// the same state, it is not read again. `now` is the wall clock, since that is what files are
/// stamped with; when that was set back, files are read until it has caught up. Thread: the core
/// loop.
class RememberedFile {
 public:
  /// What changed less than this long ago may change again without being seen to: the clocks of
  /// file systems tick, some of them every two seconds.
  static constexpr Duration kSettled = std::chrono::seconds(3);

  RememberedFile(std::string path, std::size_t cap) : path_(std::move(path)), cap_(cap) {}

  /// As Files::read(); the bytes are good until the next call.
  Result<std::string_view> read(runtime::Files& files, WallTime now);
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  std::string path_;
  std::size_t cap_;
  std::string bytes_;
  std::optional<runtime::FileInfo::Identity> known_;  ///< of `bytes_`; nothing: read them again
};

}  // namespace wardmote::observe
