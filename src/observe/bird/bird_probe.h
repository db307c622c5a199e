#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "judge/bgp/flaps.h"
#include "judge/bgp/policy.h"
#include "judge/service/service.h"
#include "observe/bird/client.h"
#include "observe/kinds.h"
#include "observe/probe.h"
#include "observe/service/status_file.h"
#include "runtime/endpoint.h"
#include "runtime/runtime.h"

namespace wardmote::observe::bird {

/// The BGP sessions of a BIRD 1.6 or 2, judged by a policy.
class BirdProbe final : public Probe {
 public:
  /// `started_file`: its age says how long ago the node started; empty: the start of the daemon
  /// counts. `runit_service`: the folder of the service whose process must hold the socket; empty:
  /// any process may.
  BirdProbe(runtime::Runtime& runtime, std::string subject, std::vector<runtime::Endpoint> at,
            ClientOptions options, judge::bgp::Policy policy, std::string started_file = {},
            std::string runit_service = {})
      : runtime_(runtime),
        subject_(std::move(subject)),
        client_(share_client(runtime, std::move(at), options)),
        policy_(std::move(policy)),
        started_file_(std::move(started_file)),
        runit_(judge::Supervisor::kRunit, std::move(runit_service)) {}

  runtime::Task<judge::Observation> look(runtime::Deadline deadline) override;

 private:
  void judge_holder(std::uint32_t holder, judge::Observation& observation);

  runtime::Runtime& runtime_;
  std::string subject_;
  std::shared_ptr<SharedClient> client_;
  judge::bgp::Policy policy_;
  std::string started_file_;
  service::StatusFiles runit_;  ///< empty without a folder: it is never asked
  judge::bgp::FlapCounter flaps_;
};

/// Where Calico and Debian put the control socket; BIRD 1.6 has a daemon of its own for IPv6.
std::vector<runtime::Endpoint> default_sockets(bool ipv6);

/// Parameters of the kind `bird` (observe/kinds.h).
std::span<const ParamSpec> bird_params() noexcept;
Result<std::unique_ptr<Probe>> make_bird_probe(runtime::Runtime& runtime, std::string subject,
                                               const Params& params);

}  // namespace wardmote::observe::bird
