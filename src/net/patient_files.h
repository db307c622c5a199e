#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>

#include "base/result.h"
#include "net/core.h"
#include "runtime/deadline.h"
#include "runtime/files.h"
#include "runtime/task.h"

namespace wardmote::net {

/// What stat(2) says, at once.
Result<runtime::FileInfo> info_of(const std::string& path);

/// Asks file systems that may hang, on threads of its own: one as a rule, one more for each that
/// does not come back. They are never waited for, since the kernel may keep them for ever; ending
/// the process ends them. Life cycle: for each runtime; `core` outlives it. Thread: the loop's.
class PatientFiles {
 public:
  /// So many paths may hang at once; further ones are not asked.
  static constexpr std::size_t kMostThreads = 16;

  explicit PatientFiles(Core& core) : core_(core) {}
  PatientFiles(const PatientFiles&) = delete;
  PatientFiles& operator=(const PatientFiles&) = delete;
  ~PatientFiles();

  /// As Files::info().
  runtime::Task<Result<runtime::FileInfo>> info(std::string path, runtime::Deadline deadline);

 private:
  struct Question;
  class Threads;

  std::shared_ptr<Question> ask(const std::string& path);
  void answered(const std::string& path, Result<runtime::FileInfo> answer);

  Core& core_;
  std::map<std::string, std::shared_ptr<Question>, std::less<>> questions_;  ///< not answered yet
  std::shared_ptr<Threads> threads_;                                         ///< when first needed
};

}  // namespace wardmote::net
