#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "base/time.h"
#include "judge/bgp/facts.h"
#include "judge/host/file.h"
#include "judge/host/process.h"
#include "judge/outcome.h"
#include "judge/raft/opinion.h"
#include "judge/service/service.h"

namespace wardmote::judge {

/// What an observation cost the prober.
struct Cost {
  std::uint64_t bytes_in = 0;
  std::uint64_t bytes_out = 0;
  bool fresh_connection =
      false;  ///< this look connected anew rather than reusing an open connection
};

/// A TCP connect.
struct TcpFacts {
  Duration connect_time{};
};

/// A TLS handshake. Texts are of the peer's choice.
struct TlsFacts {
  Duration handshake_time{};  ///< with connecting
  std::string version;        ///< `TLSv1.3`
  std::string cipher;
  std::string subject;  ///< of its certificate: `CN=ctl-1,O=Open vSwitch`; empty: it showed none
  std::string issuer;
  std::vector<std::string> names;  ///< `dns:ctl-1.example`, `ip:10.0.0.1`, …
  WallTime not_after;              ///< the earliest end in the chain that it sent
  std::string first_to_expire;     ///< and whose that is
  Duration left{};                 ///< until then; negative afterwards
  bool trusted = false;
  std::string distrust;  ///< why it is not
};

/// Typed, never a bag of strings: one alternative per kind of subject.
using Facts = std::variant<std::monostate,    //
                           raft::Opinion,     //
                           TcpFacts,          //
                           TlsFacts,          //
                           bgp::BgpFacts,     //
                           ServiceFacts,      //
                           ProcessListFacts,  //
                           FileFacts>;

/// What a probe saw of a subject between `begun` and `ended`.
struct Observation {
  std::string subject;
  Outcome outcome = Outcome::kUnknown;
  Reason reason;
  Facts facts;
  TimePoint begun;
  TimePoint ended;
  Cost cost;
};

}  // namespace wardmote::judge
