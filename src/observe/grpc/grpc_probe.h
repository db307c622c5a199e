#pragma once

#include <memory>
#include <span>
#include <string>
#include <utility>

#include "base/result.h"
#include "judge/observation.h"
#include "observe/grpc/client.h"
#include "observe/kinds.h"
#include "observe/probe.h"
#include "runtime/deadline.h"
#include "runtime/endpoint.h"
#include "runtime/runtime.h"
#include "runtime/task.h"

namespace wardmote::observe::grpc {

/// The health of a gRPC server, or of one of its services.
class GrpcProbe final : public Probe {
 public:
  GrpcProbe(runtime::Runtime& runtime, std::string subject, runtime::Endpoint at,
            std::string authority, std::string service)
      : runtime_(runtime),
        subject_(std::move(subject)),
        client_(runtime, std::move(at), std::move(authority), std::move(service)) {}

  runtime::Task<judge::Observation> look(runtime::Deadline deadline) override;

 private:
  runtime::Runtime& runtime_;
  std::string subject_;
  Client client_;
};

/// Parameters of the kind `grpc` (observe/kinds.h).
std::span<const ParamSpec> grpc_params() noexcept;
Result<std::unique_ptr<Probe>> make_grpc_probe(runtime::Runtime& runtime, std::string subject,
                                               const Params& params);

}  // namespace wardmote::observe::grpc
