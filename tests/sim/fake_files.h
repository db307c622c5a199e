#pragma once

#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"
#include "runtime/deadline.h"
#include "runtime/files.h"
#include "runtime/task.h"

namespace wardmote::sim {

/// The files of a simulated host, by their paths: what tests put there. Folders are those that the
/// paths name.
class FakeFiles final : public runtime::Files {
 public:
  void put(const std::string& path, std::string bytes, WallTime modified = {}) {
    files_[path] = File{std::move(bytes), modified};
  }
  void put_fifo(const std::string& path, bool has_reader) { files_[path] = Fifo{has_reader}; }
  /// Every use of `path` fails so.
  void refuse(const std::string& path, Errc code) { files_[path] = code; }
  void remove(const std::string& path) { files_.erase(path); }

  Result<std::string> read(const std::string& path, std::size_t cap) override;
  Result<runtime::FileInfo> info(const std::string& path) override;
  /// At once, since nothing here hangs; by `refuse(path, Errc::kTimeout)` as if it did.
  runtime::Task<Result<runtime::FileInfo>> info(std::string path,
                                                runtime::Deadline deadline) override;
  Result<bool> has_reader(const std::string& fifo) override;
  Result<std::vector<std::string>> list(const std::string& folder, std::size_t cap) override;

 private:
  struct File {
    std::string bytes;
    WallTime modified;
  };
  struct Fifo {
    bool has_reader;
  };
  using Entry = std::variant<File, Fifo, Errc>;

  Result<const Entry*> find(const std::string& path) const;

  std::map<std::string, Entry, std::less<>> files_;
};

}  // namespace wardmote::sim
