#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include "base/time.h"
#include "judge/bgp/facts.h"
#include "judge/endpoint/dns.h"
#include "judge/endpoint/grpc.h"
#include "judge/endpoint/http.h"
#include "judge/endpoint/ping.h"
#include "judge/endpoint/tls.h"
#include "judge/host/exec.h"
#include "judge/host/file.h"
#include "judge/host/process.h"
#include "judge/outcome.h"
#include "judge/raft/opinion.h"
#include "judge/service/service.h"
#include "judge/service/systemd.h"

namespace wardmote::judge {

/// What an observation cost the prober.
struct Cost {
  std::uint64_t bytes_in = 0;
  std::uint64_t bytes_out = 0;
  bool fresh_connection = false;  ///< this probe opened a new connection
};

/// A TCP connect.
struct TcpFacts {
  Duration connect_time{};
};

/// Typed, never a bag of strings: one alternative per kind of subject.
using Facts = std::variant<std::monostate,    //
                           raft::Opinion,     //
                           TcpFacts,          //
                           TlsFacts,          //
                           bgp::BgpFacts,     //
                           ServiceFacts,      //
                           SystemdFacts,      //
                           ProcessListFacts,  //
                           FileFacts,         //
                           HttpFacts,         //
                           GrpcFacts,         //
                           DnsFacts,          //
                           PingFacts,         //
                           ExecFacts>;

/// The result of one probe of a subject, from `begun` to `ended`.
struct Observation {
  std::string subject;
  Outcome outcome = Outcome::kUnknown;
  Reason reason;
  Facts facts;
  TimePoint begun;
  TimePoint ended;
  Cost cost;
  /// Nobody saw the good outcome: it holds until something else is shown.
  bool presumed = false;
};

}  // namespace wardmote::judge
