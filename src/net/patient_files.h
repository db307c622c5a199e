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

/// stat(2), blocking.
Result<runtime::FileInfo> info_of(const std::string& path);

/// Asks file systems that may hang, on threads of its own: usually one, plus one for each call that
/// does not return. The threads are never joined, because the kernel may keep them for ever; they
/// end with the process. Life cycle: one for each runtime; `core` outlives it. Thread: the loop's.
class PatientFiles {
 public:
  /// How many paths may hang at the same time; further paths are not asked.
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
  /// calls without an answer yet
  std::map<std::string, std::shared_ptr<Question>, std::less<>> questions_;
  /// created on first use
  std::shared_ptr<Threads> threads_;
};

}  // namespace wardmote::net
