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

/// A file that is read often and changes rarely: it is read again only when its identity has
/// changed. `now` is the wall clock, because files have timestamps of that clock; after the clock
/// was set back, the file is read each time until the clock has caught up. Thread: the core loop.
class RememberedFile {
 public:
  /// A file that changed less than this long ago may change again without a new timestamp: the
  /// clocks of file systems tick, some of them every two seconds.
  static constexpr Duration kSettled = std::chrono::seconds(3);

  RememberedFile(std::string path, std::size_t cap) : path_(std::move(path)), cap_(cap) {}

  /// As Files::read(); the bytes are valid until the next call.
  Result<std::string_view> read(runtime::Files& files, WallTime now);
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  std::string path_;
  std::size_t cap_;
  std::string bytes_;
  /// the identity of `bytes_`; nothing: read the file again
  std::optional<runtime::FileInfo::Identity> known_;
};

}  // namespace wardmote::observe
