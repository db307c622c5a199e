#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace wardmote::config {

/// What tells one state of a file from another without reading it. Symbolic links are followed, so
/// a link that is turned to another file shows too (the files of a Kubernetes ConfigMap are such
/// links). Of a folder it changes when a file in it comes or goes.
struct FileStamp {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::uint64_t size = 0;
  std::int64_t changed_ns = 0;  ///< of contents, name or access rights
  friend bool operator==(const FileStamp&, const FileStamp&) = default;
};

/// The door to the files of a configuration. They are few, small and local, so it may block.
class Files {
 public:
  Files() = default;
  Files(const Files&) = delete;
  Files& operator=(const Files&) = delete;
  virtual ~Files() = default;

  /// All of a regular file. kLimit when it has more than `cap` bytes; kMissing, kDenied, kInvalid.
  virtual Result<std::string> read(const std::string& path, std::size_t cap) = 0;
  /// Replaces a file at once, whole or not at all; its access rights stay.
  virtual Result<void> replace(const std::string& path, std::string_view bytes) = 0;
  /// The names in a folder, sorted.
  virtual Result<std::vector<std::string>> list(const std::string& folder) = 0;
  /// Nothing when there is no such file, or it cannot be looked at.
  virtual std::optional<FileStamp> stamp(const std::string& path) = 0;
};

class LocalFiles final : public Files {
 public:
  Result<std::string> read(const std::string& path, std::size_t cap) override;
  Result<void> replace(const std::string& path, std::string_view bytes) override;
  Result<std::vector<std::string>> list(const std::string& folder) override;
  std::optional<FileStamp> stamp(const std::string& path) override;
};

}  // namespace wardmote::config
