#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "base/result.h"
#include "judge/observation.h"
#include "observe/etcd/member_client.h"
#include "observe/kinds.h"
#include "observe/probe.h"
#include "runtime/endpoint.h"
#include "runtime/runtime.h"

namespace wardmote::observe::etcd {

/// One member of an etcd cluster, by itself. A cluster as a whole is judged under `clusters`.
class EtcdProbe final : public Probe {
 public:
  EtcdProbe(runtime::Runtime& runtime, std::string subject, runtime::Endpoint at,
            std::optional<std::uint64_t> quota)
      : runtime_(runtime),
        subject_(std::move(subject)),
        client_(runtime, std::move(at)),
        quota_(quota) {}

  runtime::Task<judge::Observation> look(runtime::Deadline deadline) override;

 private:
  runtime::Runtime& runtime_;
  std::string subject_;
  MemberClient client_;
  std::optional<std::uint64_t> quota_;
};

/// Parameters of the kind `etcd`.
std::span<const ParamSpec> etcd_params() noexcept;
Result<std::unique_ptr<Probe>> make_etcd_probe(runtime::Runtime& runtime, std::string subject,
                                               const Params& params);

}  // namespace wardmote::observe::etcd
