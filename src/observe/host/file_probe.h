#pragma once

#include <memory>
#include <span>
#include <string>

#include "base/result.h"
#include "judge/host/file.h"
#include "observe/kinds.h"
#include "observe/probe.h"
#include "runtime/runtime.h"

namespace wardmote::observe {

/// Whether a file exists, how old and how large it is: a backup, a heartbeat, a lock.
class FileProbe final : public Probe {
 public:
  FileProbe(runtime::Runtime& runtime, std::string subject, std::string path,
            judge::FilePolicy policy)
      : runtime_(runtime), subject_(std::move(subject)), path_(std::move(path)), policy_(policy) {}

  runtime::Task<judge::Observation> look(runtime::Deadline deadline) override;

 private:
  runtime::Runtime& runtime_;
  std::string subject_;
  std::string path_;
  judge::FilePolicy policy_;
};

/// Parameters of the kind `file`.
std::span<const ParamSpec> file_params() noexcept;
Result<std::unique_ptr<Probe>> make_file_probe(runtime::Runtime& runtime, std::string subject,
                                               const Params& params);

}  // namespace wardmote::observe
