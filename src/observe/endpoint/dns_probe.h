#pragma once

#include <memory>
#include <span>
#include <string>
#include <utility>

#include "base/result.h"
#include "codec/dns.h"
#include "judge/endpoint/dns.h"
#include "judge/observation.h"
#include "observe/kinds.h"
#include "observe/probe.h"
#include "runtime/deadline.h"
#include "runtime/endpoint.h"
#include "runtime/runtime.h"
#include "runtime/task.h"

namespace wardmote::observe {

struct DnsTarget {
  std::string name;
  codec::DnsType type = codec::DnsType::kA;
  runtime::Endpoint server;  ///< with an empty host: the first server of /etc/resolv.conf
  bool tcp = false;          ///< over TCP only
  bool mixed_case = false;
  judge::DnsPolicy policy;
};

/// Asks a name server one question: by datagrams, and over TCP when the answer does not fit into
/// one.
class DnsProbe final : public Probe {
 public:
  DnsProbe(runtime::Runtime& runtime, std::string subject, DnsTarget target)
      : runtime_(runtime), subject_(std::move(subject)), target_(std::move(target)) {}

  runtime::Task<judge::Observation> look(runtime::Deadline deadline) override;

 private:
  /// The state of one probe.
  struct Asking {
    runtime::Endpoint server;
    codec::DnsQuestion question;
    std::string query;
    bool over_tcp = false;
    std::size_t tries = 0;
    judge::Cost cost{};
  };

  Result<Asking> prepare();
  runtime::Task<Result<codec::DnsReply>> ask(Asking* asking, runtime::Deadline deadline);
  runtime::Task<Result<codec::DnsReply>> ask_by_datagrams(Asking* asking,
                                                          runtime::Deadline deadline);
  runtime::Task<Result<codec::DnsReply>> ask_over_tcp(Asking* asking, runtime::Deadline deadline);
  std::string mixed(std::string name);

  runtime::Runtime& runtime_;
  std::string subject_;
  DnsTarget target_;
};

/// Parameters of the kind `dns` (observe/kinds.h).
std::span<const ParamSpec> dns_params() noexcept;
Result<std::unique_ptr<Probe>> make_dns_probe(runtime::Runtime& runtime, std::string subject,
                                              const Params& params);

}  // namespace wardmote::observe
