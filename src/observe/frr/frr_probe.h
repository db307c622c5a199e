#pragma once

#include <memory>
#include <span>
#include <string>

#include "base/result.h"
#include "judge/bgp/flaps.h"
#include "judge/bgp/policy.h"
#include "observe/frr/client.h"
#include "observe/kinds.h"
#include "observe/probe.h"
#include "runtime/endpoint.h"
#include "runtime/runtime.h"

namespace wardmote::observe::frr {

/// The BGP sessions of FRR's bgpd, judged by a policy.
class FrrProbe final : public Probe {
 public:
  FrrProbe(runtime::Runtime& runtime, std::string subject, runtime::Endpoint at, std::string vrf,
           judge::bgp::Policy policy)
      : runtime_(runtime),
        subject_(std::move(subject)),
        client_(share_client(runtime, std::move(at), std::move(vrf))),
        policy_(std::move(policy)) {}

  runtime::Task<judge::Observation> look(runtime::Deadline deadline) override;

 private:
  runtime::Runtime& runtime_;
  std::string subject_;
  std::shared_ptr<SharedClient> client_;
  judge::bgp::Policy policy_;
  judge::bgp::FlapCounter flaps_;
};

/// Parameters of the kind `frr` (observe/kinds.h).
std::span<const ParamSpec> frr_params() noexcept;
Result<std::unique_ptr<Probe>> make_frr_probe(runtime::Runtime& runtime, std::string subject,
                                              const Params& params);

}  // namespace wardmote::observe::frr
