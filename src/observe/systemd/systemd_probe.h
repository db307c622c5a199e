#pragma once

#include <memory>
#include <span>
#include <string>
#include <utility>

#include "base/result.h"
#include "judge/host/process.h"
#include "judge/observation.h"
#include "judge/service/systemd.h"
#include "observe/kinds.h"
#include "observe/probe.h"
#include "observe/systemd/client.h"
#include "runtime/deadline.h"
#include "runtime/endpoint.h"
#include "runtime/runtime.h"
#include "runtime/task.h"

namespace wardmote::observe::systemd {

struct SystemdTarget {
  std::string unit;  ///< with its suffix
  runtime::Endpoint bus;
  bool other_pid_namespace = false;
  judge::SystemdPolicy policy;
};

/// A unit of systemd, asked over D-Bus, and the main process of a service as the kernel shows it.
class SystemdProbe final : public Probe {
 public:
  SystemdProbe(runtime::Runtime& runtime, std::string subject, SystemdTarget target)
      : runtime_(runtime),
        subject_(std::move(subject)),
        target_(std::move(target)),
        client_(runtime, target_.bus, target_.unit) {}

  runtime::Task<judge::Observation> look(runtime::Deadline deadline) override;

 private:
  void seek_process(judge::SystemdFacts& facts);

  runtime::Runtime& runtime_;
  std::string subject_;
  SystemdTarget target_;
  Client client_;
  judge::RestartCounter restarts_;
  judge::WaitingClock waiting_;
};

/// Parameters of the kind `systemd` (observe/kinds.h).
std::span<const ParamSpec> systemd_params() noexcept;
Result<std::unique_ptr<Probe>> make_systemd_probe(runtime::Runtime& runtime, std::string subject,
                                                  const Params& params);

}  // namespace wardmote::observe::systemd
