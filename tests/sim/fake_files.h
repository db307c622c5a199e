#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
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
    files_[path] = File{std::move(bytes), modified, ++changes_};
  }
  void put_fifo(const std::string& path, bool has_reader) { files_[path] = Fifo{has_reader}; }
  /// Every use of `path` fails so.
  void refuse(const std::string& path, Errc code) { files_[path] = code; }
  /// Within one tick of the clock of the file system, so that nobody can tell by its stamps.
  void rewrite_unseen(const std::string& path, std::string bytes) {
    std::get<File>(files_.at(path)).bytes = std::move(bytes);
  }
  /// Whoever keeps it open keeps what ended.
  void remove(const std::string& path) {
    files_.erase(path);
    ++removed_[path];
  }

  /// What is left on the file system, which is one for all; nothing: nobody may ask.
  void set_space(std::optional<runtime::DiskSpace> space) { space_ = space; }

  /// How often its bytes were asked for by its name.
  [[nodiscard]] int reads(const std::string& path) { return reads_[path]; }

  Result<std::string> read(const std::string& path, std::size_t cap) override;
  Result<std::string> read_part(const std::string& path, std::uint64_t offset,
                                std::size_t most) override;
  Result<std::unique_ptr<runtime::OpenFile>> open(const std::string& path) override;
  Result<runtime::FileInfo> info(const std::string& path) override;
  /// At once, since nothing here hangs; by `refuse(path, Errc::kTimeout)` as if it did.
  runtime::Task<Result<runtime::FileInfo>> info(std::string path,
                                                runtime::Deadline deadline) override;
  Result<bool> has_reader(const std::string& fifo) override;
  Result<void> may_run(const std::string& program) override;
  Result<std::vector<std::string>> list(const std::string& folder, std::size_t cap) override;
  Result<runtime::DiskSpace> space(const std::string& path) override;

 private:
  class FakeOpenFile;
  struct File {
    std::string bytes;
    WallTime modified;
    std::uint64_t change;  ///< no two states of files share one
  };
  struct Fifo {
    bool has_reader;
  };
  using Entry = std::variant<File, Fifo, Errc>;

  Result<const Entry*> find(const std::string& path) const;

  std::map<std::string, Entry, std::less<>> files_;
  std::map<std::string, int> removed_;  ///< how often
  std::map<std::string, int> reads_;
  std::optional<runtime::DiskSpace> space_;
  std::uint64_t changes_ = 0;
};

}  // namespace wardmote::sim
