#pragma once

#include <memory>
#include <span>
#include <string>

#include "base/result.h"
#include "judge/host/process.h"
#include "judge/service/service.h"
#include "observe/host/process_table.h"
#include "observe/kinds.h"
#include "observe/probe.h"
#include "observe/service/status_file.h"
#include "runtime/runtime.h"

namespace wardmote::observe::service {

struct ServiceTarget {
  judge::Supervisor supervisor = judge::Supervisor::kRunit;
  std::string folder;
  /// The process of the service is not in our /proc.
  bool other_pid_namespace = false;
  judge::ServicePolicy policy;
};

/// A service under runit, s6 or daemontools: reads the files of its supervisor, without starting a
/// program, and the process itself. Remembers restarts between probes.
class SupervisedProbe final : public Probe {
 public:
  SupervisedProbe(runtime::Runtime& runtime, std::string subject, ServiceTarget target)
      : runtime_(runtime),
        subject_(std::move(subject)),
        target_(std::move(target)),
        status_(target_.supervisor, target_.folder) {}

  runtime::Task<judge::Observation> look(runtime::Deadline deadline) override;

 private:
  Result<StatusRead> read();
  void seek_process(judge::ServiceFacts& facts);
  void count_restarts(const StatusRead& read, judge::ServiceFacts& facts);

  runtime::Runtime& runtime_;
  std::string subject_;
  ServiceTarget target_;
  StatusFiles status_;
  ProcessView process_;
  ProcessView parent_;
  judge::RestartMemory memory_;
  judge::WaitingClock waiting_;
};

/// Parameters of the kinds `runit`, `s6` and `daemontools`.
std::span<const ParamSpec> runit_params() noexcept;
std::span<const ParamSpec> supervised_params() noexcept;
Result<std::unique_ptr<Probe>> make_runit_probe(runtime::Runtime& runtime, std::string subject,
                                                const Params& params);
Result<std::unique_ptr<Probe>> make_s6_probe(runtime::Runtime& runtime, std::string subject,
                                             const Params& params);
Result<std::unique_ptr<Probe>> make_daemontools_probe(runtime::Runtime& runtime,
                                                      std::string subject, const Params& params);

}  // namespace wardmote::observe::service
