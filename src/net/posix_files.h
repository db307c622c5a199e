#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "net/core.h"
#include "net/patient_files.h"
#include "runtime/deadline.h"
#include "runtime/files.h"
#include "runtime/task.h"

namespace wardmote::net {

/// The files of this machine.
class PosixFiles final : public runtime::Files {
 public:
  /// How many files stay open at the same time: two for each of some hundred services.
  static constexpr std::size_t kMostOpen = 512;

  explicit PosixFiles(Core& core) : patient_(core) {}

  Result<std::string> read(const std::string& path, std::size_t cap) override;
  Result<std::unique_ptr<runtime::OpenFile>> open(const std::string& path) override;
  Result<runtime::FileInfo> info(const std::string& path) override;
  runtime::Task<Result<runtime::FileInfo>> info(std::string path,
                                                runtime::Deadline deadline) override;
  Result<bool> has_reader(const std::string& fifo) override;
  Result<void> may_run(const std::string& program) override;
  Result<std::vector<std::string>> list(const std::string& folder, std::size_t cap) override;
  Result<runtime::DiskSpace> space(const std::string& path) override;
  Result<std::string> read_part(const std::string& path, std::uint64_t offset,
                                std::size_t most) override;

 private:
  PatientFiles patient_;
  std::size_t open_ = 0;  ///< files that a caller keeps open
};

}  // namespace wardmote::net
