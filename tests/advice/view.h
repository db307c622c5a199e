#pragma once

#include <optional>
#include <string>

#include "advice/cluster.h"
#include "base/time.h"
#include "judge/outcome.h"
#include "judge/raft/opinion.h"

namespace wardmote::advice {

/// How an agent asks one host.
struct Way {
  std::string member;
  HostIndex host = 0;
  bool status = true;  ///< by its control socket
  bool local = true;   ///< by its OVSDB socket
  bool unix_socket = false;
  bool cut = false;                   ///< the agent does not get there
  bool shut = false;                  ///< nobody listens for it there, whatever runs
  bool starved = false;               ///< the agent was too poor to look
  bool by_neighbour = false;          ///< it asks for another database of the process
  bool roams = false;                 ///< by a name, which may lead to another host
  std::optional<HostIndex> leads_to;  ///< that host
  /// Its OVSDB socket is written down wrongly: this host answers there.
  std::optional<HostIndex> crossed;
};

/// What the server prints of itself. `ages`: OVS 2.9 to 2.14 prints none.
judge::raft::Status print_status(const Cluster& cluster, ServerIndex server, bool ages);

/// What an agent gets that looks now, as observe/ovn makes it.
judge::raft::Opinion look_at(const Cluster& cluster, const Way& way, bool ages, TimePoint begun,
                             Duration timeout);

}  // namespace wardmote::advice
