#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace wardmote::cli {

/// A ustar archive in memory (POSIX.1-1988, pax(1) "ustar Interchange Format"). Our own code,
/// because libarchive's static archive needs eight more libraries, for the one header of 512 bytes
/// that is written here.
class Tar {
 public:
  explicit Tar(std::int64_t written_at) : written_at_(written_at) {}

  /// `name` has at most 100 bytes.
  void add(std::string_view name, std::string_view bytes);
  /// The whole archive; nothing can be added after it.
  [[nodiscard]] std::string take() &&;

 private:
  std::int64_t written_at_;  ///< seconds since 1970
  std::string archive_;
};

}  // namespace wardmote::cli
