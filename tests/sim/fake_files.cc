#include "sim/fake_files.h"

#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/text.h"

namespace wardmote::sim {

using runtime::FileInfo;

Result<const FakeFiles::Entry*> FakeFiles::find(const std::string& path) const {
  const auto found = files_.find(path);
  if (found == files_.end()) return fail(Errc::kMissing, "{}", path);
  if (const Errc* const code = std::get_if<Errc>(&found->second)) return fail(*code, "{}", path);
  return &found->second;
}

Result<std::string> FakeFiles::read(const std::string& path, std::size_t cap) {
  ++reads_[path];
  const Result<const Entry*> entry = find(path);
  if (!entry) return std::unexpected(entry.error());
  const File* const file = std::get_if<File>(*entry);
  if (file == nullptr) return fail(Errc::kInvalid, "{}: a FIFO, not a regular file", path);
  if (file->bytes.size() > cap) return fail(Errc::kLimit, "{}: more than {} bytes", path, cap);
  return file->bytes;
}

Result<std::string> FakeFiles::read_part(const std::string& path, std::uint64_t offset,
                                         std::size_t most) {
  const Result<std::string> all = read(path, std::string::npos);
  if (!all || offset >= all->size()) return all ? std::string() : all;
  return all->substr(offset, most);
}

Result<runtime::DiskSpace> FakeFiles::space(const std::string& path) {
  const Result<const Entry*> entry = find(path);
  if (!entry) return std::unexpected(entry.error());
  if (!space_) return fail(Errc::kDenied, "{}", path);
  return *space_;
}

/// One that has been removed is gone for whoever holds it, as a process is.
class FakeFiles::FakeOpenFile final : public runtime::OpenFile {
 public:
  FakeOpenFile(FakeFiles& files, std::string path)
      : files_(files), path_(std::move(path)), removed_(files.removed_[path_]) {}

  Result<std::string> read(std::size_t cap) override {
    if (files_.removed_[path_] != removed_) return fail(Errc::kMissing, "{}", path_);
    return files_.read(path_, cap);
  }

 private:
  FakeFiles& files_;
  std::string path_;
  int removed_;
};

Result<std::unique_ptr<runtime::OpenFile>> FakeFiles::open(const std::string& path) {
  const Result<const Entry*> entry = find(path);
  if (!entry) return std::unexpected(entry.error());
  return std::make_unique<FakeOpenFile>(*this, path);
}

Result<FileInfo> FakeFiles::info(const std::string& path) {
  const Result<const Entry*> entry = find(path);
  if (!entry) {
    const Result<std::vector<std::string>> inside = list(path, 1);
    if (inside || inside.error().code == Errc::kLimit)
      return FileInfo{FileInfo::Kind::kFolder, 0, {}, {}};
    return std::unexpected(entry.error());
  }
  if (const File* const file = std::get_if<File>(*entry))
    return FileInfo{FileInfo::Kind::kRegular,
                    file->bytes.size(),
                    file->modified,
                    {.device = 1, .inode = file->change, .changed = file->modified}};
  return FileInfo{FileInfo::Kind::kFifo, 0, {}, {}};
}

runtime::Task<Result<runtime::FileInfo>> FakeFiles::info(std::string path, runtime::Deadline) {
  co_return info(path);
}

Result<bool> FakeFiles::has_reader(const std::string& fifo) {
  const Result<const Entry*> entry = find(fifo);
  if (!entry) return std::unexpected(entry.error());
  const Fifo* const found = std::get_if<Fifo>(*entry);
  if (found == nullptr) return fail(Errc::kInvalid, "{}: a regular file, not a FIFO", fifo);
  return found->has_reader;
}

Result<void> FakeFiles::may_run(const std::string& program) {
  const Result<const Entry*> entry = find(program);
  return entry ? Result<void>() : std::unexpected(entry.error());
}

Result<std::vector<std::string>> FakeFiles::list(const std::string& folder, std::size_t cap) {
  std::set<std::string> names;
  const std::string prefix = folder + "/";
  for (const auto& [path, entry] : files_) {
    std::string_view rest = path;
    if (consume_prefix(rest, prefix)) names.emplace(take_until(rest, '/'));
  }
  if (names.empty()) return fail(Errc::kMissing, "{}", folder);
  if (names.size() > cap) return fail(Errc::kLimit, "{}: more than {} names", folder, cap);
  return std::vector<std::string>(names.begin(), names.end());
}

}  // namespace wardmote::sim
